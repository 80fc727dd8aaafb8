package verdict

// Process is what was seen of one process of this machine while the run was measured.
// What is not known is absent; Note says why.
type Process struct {
	// Role is "perfbench", or the driver of the store that the process serves.
	Role string `json:"role"`
	PID  int    `json:"pid,omitempty"`
	// Name is how the process calls itself.
	Name string `json:"name,omitempty"`
	Note string `json:"note,omitempty"`
	// CPU is processors in use over the whole time, CPUMost in the busiest second.
	CPU     *float64 `json:"cpu_cores,omitempty"`
	CPUMost *float64 `json:"cpu_cores_most,omitempty"`
	// RSSMost is the most resident memory, in bytes.
	RSSMost *int64 `json:"rss_bytes_most,omitempty"`
	// NetIn and NetOut are bytes a second.
	NetIn  *float64 `json:"net_in_per_s,omitempty"`
	NetOut *float64 `json:"net_out_per_s,omitempty"`
}

// Noted is something that took a server long, as it has noted it itself.
type Noted struct {
	// AtS is the second of measurement in which it was noted.
	AtS int `json:"at_s"`
	// Node is where the server listens; empty when the store has only one.
	Node string `json:"node,omitempty"`
	// Event is what took long other than a command, in the words of the server; Command the
	// name of a command otherwise.
	Event   string `json:"event,omitempty"`
	Command string `json:"command,omitempty"`
	// Key is the form of the first key of the command where that is one of the run.
	Key   string  `json:"key,omitempty"`
	ForMs float64 `json:"for_ms"`
}

// Used is what the server of the store says that it used while the run was measured.
// What it does not tell is absent.
type Used struct {
	// CPU is seconds of processor time.
	CPU *float64 `json:"cpu_s,omitempty"`
	// Calls is how many calls of applications it counted, Kind what they are: "scripts",
	// "statements".
	Calls *int64 `json:"calls,omitempty"`
	Kind  string `json:"calls_kind,omitempty"`
	// Received and Sent are bytes.
	Received *int64 `json:"received_bytes,omitempty"`
	Sent     *int64 `json:"sent_bytes,omitempty"`
	// Memory is bytes of data at the end.
	Memory *int64 `json:"memory_bytes,omitempty"`
}
