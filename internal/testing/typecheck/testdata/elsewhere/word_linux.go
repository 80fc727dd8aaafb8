package elsewhere

func word() string { return "linux" }
