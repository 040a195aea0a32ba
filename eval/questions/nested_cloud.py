"""Questions about what clouds tell of themselves: types of instances, regions, options of databases."""

from collections import Counter

from ask import about, sql
from gold import grouped, mean, ranked

instances = about("instance-types.json", read_as="json")
regions = about("aws-regions.json", read_as="json")
options = about("oracle-options.json", read_as="json")


def all_regions(data):
    return data["aws"]["service"]["global-infrastructure"]["regions"]


def settings(options):
    return [(option, one) for option in options for one in option["OptionGroupOptionSettings"]]


# Types of instances: structs in structs, lists of objects in them, optional ones

instances(
    "nested",
    "Which five instance types have the most memory? In MiB.",
    sql("SELECT InstanceType, MemoryInfo.SizeInMiB m FROM {id} ORDER BY m DESC, InstanceType LIMIT 5"),
    lambda types: ranked({name: one["MemoryInfo"]["SizeInMiB"] for name, one in types.items()}, 5),
)
instances(
    "nested",
    "How many types have each maker of processors?",
    sql("SELECT ProcessorInfo.Manufacturer AS maker, count(*) AS n FROM {id} GROUP BY maker ORDER BY n DESC"),
    lambda types: ranked(Counter(one["ProcessorInfo"]["Manufacturer"] for one in types.values())),
)
instances(
    "nested",
    "How many types have an ARM processor (arm64 among the architectures)?",
    sql("SELECT count(*) FROM {id} WHERE list_contains(ProcessorInfo.SupportedArchitectures, 'arm64')"),
    lambda types: sum("arm64" in one["ProcessorInfo"]["SupportedArchitectures"] for one in types.values()),
)
instances(
    "nested",
    "Which type has the fastest sustained clock, and how fast is it?",
    sql(
        "SELECT InstanceType, ProcessorInfo.SustainedClockSpeedInGhz ghz FROM {id} "
        "ORDER BY ghz DESC NULLS LAST, InstanceType LIMIT 1"
    ),
    lambda types: ranked(
        {name: one["ProcessorInfo"].get("SustainedClockSpeedInGhz", 0) for name, one in types.items()}, 1
    ),
)
instances(
    "nested",
    "Of how many types is the clock speed not told?",
    sql("SELECT count(*) FROM {id} WHERE ProcessorInfo.SustainedClockSpeedInGhz IS NULL"),
    lambda types: sum("SustainedClockSpeedInGhz" not in one["ProcessorInfo"] for one in types.values()),
)
instances(
    "nested",
    "What is the mean number of virtual processors (default) of types with and without bare metal?",
    sql("SELECT BareMetal, avg(VCpuInfo.DefaultVCpus) FROM {id} GROUP BY BareMetal ORDER BY BareMetal"),
    lambda types: [
        (metal, mean(one["VCpuInfo"]["DefaultVCpus"] for one in some))
        for metal, some in sorted(grouped(types.values(), lambda one: one["BareMetal"]).items())
    ],
)
instances(
    "nested",
    "How many types can run on 96 cores (ValidCores)?",
    sql("SELECT count(*) FROM {id} WHERE 96 IN VCpuInfo.ValidCores"),
    lambda types: sum(96 in one["VCpuInfo"].get("ValidCores", []) for one in types.values()),
)
instances(
    "nested",
    "How many network cards have the instance types together, and how much bandwidth at the peak at most?",
    sql("SELECT count(*), max(PeakBandwidthInGbps) FROM {id}_NetworkCards"),
    lambda types: (lambda cards: (len(cards), max(card["PeakBandwidthInGbps"] for card in cards)))(
        [card for one in types.values() for card in one["NetworkInfo"]["NetworkCards"]]
    ),
)
instances(
    "nested",
    "Which three types have the greatest baseline bandwidth over all their network cards?",
    sql(
        "SELECT t.InstanceType, sum(card.BaselineBandwidthInGbps) AS gbps "
        "FROM {id} t, unnest(t.NetworkInfo.NetworkCards) AS c(card) "
        "GROUP BY t.InstanceType ORDER BY gbps DESC, 1 LIMIT 3"
    ),
    lambda types: ranked(
        {
            name: sum(card["BaselineBandwidthInGbps"] for card in one["NetworkInfo"]["NetworkCards"])
            for name, one in types.items()
        },
        3,
    ),
)
instances(
    "nested",
    "Which graphics processors (GPUs) are there, by name, and in how many types?",
    sql("SELECT Name, count(*) n FROM {id}_Gpus GROUP BY Name ORDER BY n DESC, Name"),
    lambda types: ranked(
        Counter(gpu["Name"] for one in types.values() for gpu in one.get("GpuInfo", {}).get("Gpus", []))
    ),
)
instances(
    "nested",
    "Which types have NVIDIA's H100, and how many of it?",
    sql(
        "SELECT InstanceType, g.Count FROM {id}, unnest(GpuInfo.Gpus) u(g) WHERE g.Name = 'H100' "
        "ORDER BY InstanceType"
    ),
    lambda types: sorted(
        (name, gpu["Count"])
        for name, one in types.items() for gpu in one.get("GpuInfo", {}).get("Gpus", []) if gpu["Name"] == "H100"
    ),
)
instances(
    "nested",
    "How many types have local disks, and how many GB have they in all?",
    sql("SELECT count(InstanceStorageInfo), sum(InstanceStorageInfo.TotalSizeInGB) FROM {id}"),
    lambda types: (lambda some: (len(some), sum(one["TotalSizeInGB"] for one in some)))(
        [one["InstanceStorageInfo"] for one in types.values() if "InstanceStorageInfo" in one]
    ),
)
instances(
    "nested",
    "How many types support each strategy of placement groups?",
    sql(
        "SELECT strategy, count(*) n FROM (SELECT unnest(PlacementGroupInfo.SupportedStrategies) strategy FROM {id}) "
        "GROUP BY strategy ORDER BY n DESC, strategy"
    ),
    lambda types: ranked(
        Counter(s for one in types.values() for s in one["PlacementGroupInfo"]["SupportedStrategies"])
    ),
)
instances(
    "nested",
    "How many IO operations a second does `m5.large` reach at most, optimized for EBS?",
    sql("SELECT EbsInfo->'EbsOptimizedInfo'->>'MaximumIops' FROM {id} WHERE InstanceType = 'm5.large'"),
    lambda types: str(types["m5.large"]["EbsInfo"]["EbsOptimizedInfo"]["MaximumIops"]),
)

# Options of databases: two lists of objects in each record, and one within

options(
    "nested",
    "How many settings have all options together, and how many of those are required?",
    sql("SELECT count(*), count(*) FILTER (WHERE IsRequired) FROM {id}_OptionGroupOptionSettings"),
    lambda options: (len(settings(options)), sum(one["IsRequired"] for _, one in settings(options))),
)
options(
    "nested",
    "Which five settings occur most often?",
    sql(
        "SELECT SettingName, count(*) n FROM {id}_OptionGroupOptionSettings "
        "GROUP BY SettingName ORDER BY n DESC, SettingName LIMIT 5"
    ),
    lambda options: ranked(Counter(one["SettingName"] for _, one in settings(options)), 5),
)
options(
    "nested",
    "What is the default of the setting SQLNET.SSL_VERSION of the option SSL, for each major version?",
    sql(
        "SELECT o.MajorEngineVersion, s.DefaultValue FROM {id} o, unnest(o.OptionGroupOptionSettings) u(s) "
        "WHERE o.Name = 'SSL' AND s.SettingName = 'SQLNET.SSL_VERSION' ORDER BY 1"
    ),
    lambda options: sorted(
        (option["MajorEngineVersion"], one["DefaultValue"])
        for option, one in settings(options)
        if option["Name"] == "SSL" and one["SettingName"] == "SQLNET.SSL_VERSION"
    ),
)
options(
    "nested",
    "How many settings have no default?",
    sql("SELECT count(*) FROM {id}_OptionGroupOptionSettings WHERE DefaultValue IS NULL"),
    lambda options: sum("DefaultValue" not in one for _, one in settings(options)),
)
options(
    "nested",
    "Which options conflict with another, and with how many? In each major version.",
    sql(
        "SELECT Name, MajorEngineVersion, len(OptionsConflictsWith) FROM {id} "
        "WHERE len(OptionsConflictsWith) > 1 ORDER BY 1, 2"
    ),
    lambda options: sorted(
        (one["Name"], one["MajorEngineVersion"], len(one["OptionsConflictsWith"]))
        for one in options if len(one["OptionsConflictsWith"]) > 1
    ),
)
options(
    "nested",
    "Which options depend on XMLDB?",
    sql("SELECT DISTINCT Name FROM {id} WHERE list_contains(OptionsDependedOn, 'XMLDB') ORDER BY Name"),
    lambda options: sorted({one["Name"] for one in options if "XMLDB" in one["OptionsDependedOn"]}),
)
options(
    "nested",
    "How many versions has the option APEX for each major version of the engine?",
    sql(
        "SELECT MajorEngineVersion, len(OptionGroupOptionVersions) FROM {id} WHERE Name = 'APEX' ORDER BY 1"
    ),
    lambda options: sorted(
        (one["MajorEngineVersion"], len(one["OptionGroupOptionVersions"]))
        for one in options if one["Name"] == "APEX"
    ),
)
options(
    "nested",
    "How many versions of options are the default (OptionGroupOptionVersions)?",
    sql("SELECT count(*) FROM {id}_OptionGroupOptionVersions WHERE IsDefault"),
    lambda options: sum(
        one["IsDefault"] for option in options for one in option.get("OptionGroupOptionVersions", [])
    ),
)
options(
    "nested",
    "Which minimum engine versions are asked for by allowed values of settings? With the values.",
    sql(
        "SELECT DISTINCT AllowedValue, MinimumEngineVersion FROM {id}_MinimumEngineVersionPerAllowedValue "
        "ORDER BY 1, 2"
    ),
    lambda options: sorted(
        {
            (value["AllowedValue"], value["MinimumEngineVersion"])
            for _, one in settings(options) for value in one["MinimumEngineVersionPerAllowedValue"]
        }
    ),
)

# Regions: maps in maps

regions(
    "nested",
    "How many regions are there in each partition?",
    sql("SELECT partition.Value p, count(*) n FROM {id} GROUP BY p ORDER BY n DESC, p"),
    lambda data: ranked(Counter(one["partition"]["Value"] for one in all_regions(data).values())),
)
regions(
    "nested",
    "What is the region `eu-north-1` called at length?",
    sql("SELECT longName.Value FROM {id} WHERE key = 'eu-north-1'"),
    lambda data: all_regions(data)["eu-north-1"]["longName"]["Value"],
)
regions(
    "nested",
    "Which three regions have the most availability zones? By their codes.",
    sql(
        'SELECT key, cardinality("availability-zones") n FROM {id} ORDER BY n DESC, key LIMIT 3'
    ),
    lambda data: ranked({name: len(one["availability-zones"]) for name, one in all_regions(data).items()}, 3),
)
