package elsewhere

func word() int { return "windows" }
