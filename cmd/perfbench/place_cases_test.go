package main

// placed is a plan with very little to do. Whatever it is, nothing of others is lost,
// and nothing of its own is left that nobody lists.
type placed struct {
	name string
	// on lists kinds of store that the plan supports and that outlive a run: one of each
	// layout of the profile. What a kind does with data of others is the store's, not the
	// profile's; the first plan is there for all kinds.
	on string
	// small is the kind on which make test does it, if it does.
	small string
	// args are those of run.
	args string
	// also is another plan that keeps its data in the same places, on the kinds of store
	// that alsoOn lists.
	also, alsoOn string
	// theirs are further arguments of a run whose data then count as those of others:
	// with them it writes other entries than without.
	theirs string
	// apart says that keys of those are told from ours by their names: whoever writes among them
	// has to say so each time, and can delete what is his.
	apart bool
	// updates ends the names, one a word, of things whose entries a run may change when
	// it is allowed to write there.
	updates string
	// lasting makes a run last; empty is by time and slowly.
	lasting string
	// under are names of keys that no run would make and that are in our places.
	under string
	// reads says that a run only reads what another has loaded, and so may do it beside it.
	reads bool
	// file is given with --file.
	file string
}

// Small enough for any machine, and long enough to be met under way when told to last.
var places = []placed{
	{
		name: "ingestion", small: "redis", on: "redis sentinel cluster cassandra mariadb postgres sqlite coherence",
		args:   "--profile ingestion --set totalEntryCount=10 --set threadCount=1 --set payloadSize=16 --set batchSize=5 --set mapNames=eligibility,profile",
		theirs: "--set prefix=y",
	},
	{
		name: "ingestion by group", on: "redis mariadb",
		args:   "--profile ingestion --set layout=group --set totalEntryCount=10 --set threadCount=1 --set payloadSize=16 --set batchSize=5",
		theirs: "--set prefix=y", apart: true,
	},
	{
		name: "group of maps", on: "redis coherence",
		args: "--profile group", theirs: "--set put1.key.startNum=100 --set put2.key.startNum=100",
		file: "groupNames: g1\ng1: {operations: 'put1,put2', threadCount: 1, totalInvocationCount: 4}\n" +
			"put1: {map: one, testCase: put, payloadSize: 16, totalEntryCount: 4}\nput2: {map: customers, testCase: put, totalEntryCount: 4, factory.class: customer}\n",
	},
	{
		name: "group of structures", updates: "}", on: "redis cluster",
		args: "--profile group",
		file: "groupNames: g1\ng1: {operations: 'b,h,s,z,l,q,c', threadCount: 1, totalInvocationCount: 4}\n" +
			"b: {bucket: buckets, testCase: set, totalEntryCount: 4}\nh: {hash: hashes, testCase: put, totalEntryCount: 4}\ns: {rset: members, testCase: add, totalEntryCount: 4}\n" +
			"z: {zset: ranks, testCase: add, totalEntryCount: 4}\nl: {list: l, testCase: add}\nq: {queue: q, testCase: offer}\nc: {mcache: c, testCase: put, totalEntryCount: 4}\n",
	},
	{
		name: "pbm", small: "postgres", on: "redis cluster postgres",
		args: "--profile tx --set mapNames=eligibility,profile --set eligibility.totalEntryCount=10 --set profile.totalEntryCount=10 --threads 2", updates: "summary summary_by_group }",
	},
	{
		name: "pbm look-ups", reads: true, on: "coherence",
		args: "--profile tx --set mapNames=eligibility,profile --set eligibility.totalEntryCount=10 --set profile.totalEntryCount=10 --set eligibility.testCase=get --set profile.testCase=getall --threads 2",
	},
	{
		name: "saga", small: "sentinel", on: "sentinel cluster postgres",
		args: "--profile tx --preset saga --set countCalls=off --set transactions=5 --set accountCount=10 --threads 1", updates: "account :a", under: "acme:saga:{0}:foreign",
	},
	{
		name: "baseline", small: "sqlite", on: "redis sqlite",
		args: "--profile tx --preset baseline --set requests=1 --threads 1", lasting: "--duration 10m", updates: "aaaaaaaaa",
	},
	{
		name: "authz", on: "redis cluster cassandra postgres",
		args: "--profile authz --set users=4 --set groups=2 --set tests=valid",
		also: "--profile authz --set users=4 --set groups=2 --set mode=user-profile", alsoOn: "redis postgres",
		under: "acme:authz:foreign",
	},
	{
		name: "authz profiles", on: "redis cassandra sqlite",
		args:  "--profile authz --set users=4 --set groups=2 --set mode=user-profile",
		under: "acme:authz:foreign",
	},
	{
		name: "event-store", small: "redis", on: "redis sentinel cassandra postgres",
		args: "--profile event-store --set events=10 --batch 5 --threads 1 --payload 64 --set queries=1", lasting: "--count 100000 --duration 10m --rate 20",
		also: "--profile event-store --set events=10 --batch 5 --threads 1 --payload 64 --set queries=1 --set schema=cradle", alsoOn: "cassandra",
		under: "acme:events:foreign",
	},
}
