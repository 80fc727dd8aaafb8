package proxy

// Swallowed returns how many open connections have lost something that was sent on them.
func (p *Proxy) Swallowed() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		if c.swallowed && !c.over() {
			n++
		}
	}
	return n
}
