"""What the suite says with and without Forebay, side by side."""

import textwrap
from collections import Counter

DIRECT, URL, STDIO = "direct", "serve --url", "serve -- COMMAND"
GROUP_OF_URL, GROUP_OF_COMMAND = "serve, a URL", "serve, a command"
THROUGH = [URL, STDIO, GROUP_OF_URL, GROUP_OF_COMMAND]
WAYS = [DIRECT, *THROUGH]

PASSED = "SUCCESS"
# Other statuses only tell what was seen or skipped.
VERDICTS = {PASSED, "FAILURE", "WARNING"}
ABSENT = {"status": "absent"}

# What passes at the server itself and cannot pass through Forebay, and why: by way, revision, scenario
# and check.
EXCUSED = {
    (way, "2025-11-25", "server-sse-multiple-streams", "server-sse-streams-functional"):
        "an answer that comes at once is JSON, as the revision allows; there is no stream to look at"
    for way in [STDIO, GROUP_OF_URL, GROUP_OF_COMMAND]
}


def show(outcomes, required, least):
    """Prints everything; returns whether all is well. `outcomes` is by revision and way."""
    print_table(outcomes, required)
    is_good = True
    for revision in required:
        checks = {way: by_check(outcomes[revision, way]) for way in WAYS}
        passed = sum(check["status"] == PASSED for check in checks[DIRECT].values())
        if passed < least[revision]:
            print(f"\n{revision}: {passed} checks pass directly; there should be {least[revision]}.")
            is_good = False
        for way in THROUGH:
            excused = {key[2:]: why for key, why in EXCUSED.items() if key[:2] == (way, revision)}
            lost = print_differences(f"{revision}, `{way}`", checks[DIRECT], checks[way], excused)
            is_good = is_good and lost == 0
    return is_good


def print_table(outcomes, required):
    print(f"| checks passed | {' | '.join(WAYS)} |")
    print("|---|" + "---|" * len(WAYS))
    for revision, scenarios in required.items():
        for kind, is_wanted in [("required", scenarios.__contains__), ("others", lambda s: s not in scenarios)]:
            cells = [tally(outcomes[revision, way], is_wanted) for way in WAYS]
            print(f"| {revision}, {kind} | {' | '.join(cells)} |")


def tally(outcome, is_wanted):
    wanted = [checks for scenario, checks in outcome.items() if is_wanted(scenario)]
    counts = Counter(check["status"] for checks in wanted for check in checks)
    return f"{counts[PASSED]} of {sum(counts[verdict] for verdict in VERDICTS)}"


def by_check(outcome):
    """Each check by its scenario, id, name and number, since a scenario may check a thing repeatedly."""
    seen = Counter()
    found = {}
    for scenario, checks in outcome.items():
        for check in checks:
            key = (scenario, check["id"], check["name"])
            seen[key] += 1
            found[*key, seen[key]] = check
    return found


def print_differences(title, direct, through, excused):
    """Prints the checks whose verdicts differ; returns how many pass in the first case alone and have no
    excuse, or have one that they do not need."""
    lost = 0
    lines = []
    needless = set(excused)
    for key in sorted(direct.keys() | through.keys()):
        before, after = direct.get(key, ABSENT), through.get(key, ABSENT)
        statuses = [before["status"], after["status"]]
        if statuses[0] == statuses[1] or VERDICTS.isdisjoint(statuses):
            continue
        scenario, check, name, number = key
        why = (after if before["status"] == PASSED else before).get("errorMessage", "")
        if before["status"] == PASSED and (scenario, check) in excused:
            needless.discard((scenario, check))
            why = f"excused: {excused[scenario, check]}"
        else:
            lost += before["status"] == PASSED
        said = textwrap.shorten(why, 200, placeholder=" …")
        lines.append(f"- {scenario}: {check} ({name} {number}): {' → '.join(statuses)} {said}".rstrip())
    for scenario, check in needless:
        lines.append(f"- {scenario}: {check}: passes, and needs no excuse")
        lost += 1
    if lines:
        print(f"\n{title}: what differs\n\n" + "\n".join(lines))
    return lost
