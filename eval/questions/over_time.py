"""Questions about the latest result of a tool and all its results, by the tool's name; and questions
that go on from the result of a query that was too long to show."""

from collections import Counter

from ask import Step, about, browse, sql
from client import HANDLE
from gold import grouped, mean, only, present

commits = about("git_log before", "git_log", read_as="commits")
folders = about("list_directory before", "list_directory", read_as="lines")
searches = about("search_files before", "search_files", read_as="lines")
tree = about("directory_tree", read_as="json")


def kept(**arguments):
    """What the catalogue holds. The answer is how many datasets are named."""
    return Step("list-saved-datasets", arguments, lambda text: len(set(HANDLE.findall(text))))


# The latest

commits(
    "history",
    "How many commits has the latest log?",
    sql("SELECT count(*) FROM git_log"),
    lambda _, latest: len(latest),
)
commits(
    "history",
    "Who wrote the oldest commit of the latest log?",
    sql("SELECT Author FROM git_log ORDER BY Date LIMIT 1"),
    lambda _, latest: latest[-1].author,
)
commits(
    "history",
    "How many commits by Bo Riis are in the latest log of the server `git`?",
    sql("SELECT count(*) FROM git.git_log WHERE Author='Bo Riis'"),
    lambda _, latest: sum(commit.author == "Bo Riis" for commit in latest),
)
folders(
    "history",
    "Is there a file for the regions of Africa (alt-af) in the folder that was listed last?",
    sql("SELECT count(*) FROM list_directory WHERE text LIKE '%alt-af.json'"),
    lambda _, latest: sum(line.endswith("alt-af.json") for line in latest),
)
tree(
    "history",
    "How many folders does the latest tree have at the top?",
    sql("SELECT count(*) FROM directory_tree WHERE type='directory'"),
    lambda nodes: sum(node["type"] == "directory" for node in nodes),
)
tree(
    "history",
    "Which entry at the top of the filesystem's latest tree is a file?",
    sql("SELECT name FROM filesystem.directory_tree WHERE type='file'"),
    lambda nodes: [node["name"] for node in nodes if node["type"] == "file"],
)

# All of them

commits(
    "history",
    "How many commits has each log that was asked for, in their order?",
    sql("SELECT count(*) FROM git_log_history GROUP BY _dataset ORDER BY min(_captured_at)"),
    lambda earlier, latest: [len(earlier), len(latest)],
)
commits(
    "history",
    "How many commits are in both logs?",
    sql(
        "SELECT count(*) FROM (SELECT Commit FROM git_log_history GROUP BY Commit HAVING count(DISTINCT _dataset)=2)"
    ),
    lambda earlier, latest: len({one.hash for one in earlier} & {one.hash for one in latest}),
)
commits(
    "history",
    "How many commits by each author are only in the later log?",
    sql(
        "SELECT Author, count(*) FROM {id2} WHERE Commit NOT IN (SELECT Commit FROM {id}) "
        "GROUP BY Author ORDER BY Author"
    ),
    lambda earlier, latest: (
        lambda known: sorted(Counter(one.author for one in latest if one.hash not in known).items())
    )({one.hash for one in earlier}),
)
folders(
    "history",
    "How many entries were listed in all?",
    sql("SELECT count(*) FROM list_directory_history"),
    lambda earlier, latest: len(earlier) + len(latest),
)
searches(
    "history",
    "How many files were found by each search?",
    sql("SELECT count(*) FROM search_files_history GROUP BY _dataset ORDER BY min(_captured_at)"),
    lambda earlier, latest: [len(earlier), len(latest)],
)
searches(
    "history",
    "How many files of zod's were found by both searches together?",
    sql("SELECT count(*) FROM filesystem.search_files_history WHERE text LIKE '%/zod/%'"),
    lambda earlier, latest: sum("/zod/" in line for line in [*earlier, *latest]),
)

# The catalogue

commits("history", "How many logs of commits are kept?", kept(filter={"tool": "git_log"}), lambda *logs: len(logs))
searches(
    "history",
    "How many searches are kept?",
    kept(filter={"tool": "search_files", "server": "filesystem"}),
    lambda *results: len(results),
)

# On from a long result


def by_tail(rows):
    return grouped(rows, lambda row: row.tailnum)


about("flights.csv", read_as="rows")(
    "follow-up",
    "Flights by aircraft: how many aircraft are there, and how many flew more than 400 times?",
    sql("SELECT tailnum, count(*) n FROM {id} GROUP BY tailnum"),
    sql("SELECT count(*), count(*) FILTER (n > 400) FROM {last}"),
    lambda rows: (
        lambda counts: (len(counts), sum(count > 400 for count in counts.values()))
    )(Counter(row.tailnum for row in rows)),
)
about("flights.csv", read_as="rows")(
    "follow-up",
    "Delays by destination and month: which is the worst?",
    sql(
        "SELECT dest, month, avg(arr_delay) delay, count(*) n FROM {id} GROUP BY ALL HAVING count(arr_delay) > 100",
        max_tokens=500,
    ),
    browse(dataset_id="{last}", fields=["dest", "month", "delay"], sort="-delay", limit=1),
    lambda rows: max(
        (
            (dest, month, mean(row.arr_delay for row in some))
            for (dest, month), some in grouped(rows, lambda row: (row.dest, row.month)).items()
            if len(present(row.arr_delay for row in some)) > 100
        ),
        key=lambda row: row[2],
    ),
)
about("dpkg status", read_as="stanzas")(
    "follow-up",
    "The packages by source: which source gave the most packages?",
    sql(
        "SELECT coalesce(split_part(Source,' ',1), Package) s, count(*) n FROM {id} GROUP BY s ORDER BY n DESC, s",
        max_tokens=500,
    ),
    sql("SELECT s, n FROM {last} ORDER BY n DESC, s LIMIT 1"),
    lambda packages: max(
        Counter(one.get("Source", one["Package"]).split(" ")[0] for one in packages).items(),
        key=lambda pair: (pair[1], [-ord(letter) for letter in pair[0]]),
    ),
)
about("countries.json", read_as="json")(
    "follow-up",
    "All official names in German, French and Spanish: what is Egypt called in the first two?",
    sql(
        "SELECT cca3, translations->>'$.deu.official' de, translations->>'$.fra.official' fr, "
        "translations->>'$.spa.official' es FROM {id}"
    ),
    sql("SELECT de, fr FROM {last} WHERE cca3='EGY'"),
    lambda all: (
        lambda names: [(names["deu"]["official"], names["fra"]["official"])]
    )(only(all, lambda one: one["cca3"] == "EGY")["translations"]),
)
