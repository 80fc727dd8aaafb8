package measure

// Folded is a list of changes in which a ramp of the timetable is one: from where it
// began to where it has come, at the moment and with the segment of its first step.
func Folded(changes []Change) []Change {
	var out []Change
	at := map[int]int{} // where each ramp is in out
	for _, c := range changes {
		if i, ok := at[c.Ramp]; ok && c.Ramp > 0 {
			out[i].To = c.To
			continue
		}
		at[c.Ramp] = len(out)
		out = append(out, c)
	}
	return out
}
