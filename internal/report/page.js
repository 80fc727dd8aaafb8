
'use strict';
(() => {
  const svg = (name, attributes, parent) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const k in attributes) e.setAttribute(k, attributes[k]);
    return parent.appendChild(e);
  };
  const button = (text, press, parent) => {
    const b = document.createElement('button');
    b.type = 'button';
    b.textContent = text;
    b.addEventListener('click', press);
    return parent.appendChild(b);
  };

  // Commands can be copied where the browser allows it.
  for (const code of document.querySelectorAll('.code')) {
    if (!navigator.clipboard) break;
    const b = button('Copy', () => navigator.clipboard.writeText(code.textContent).then(() => { b.textContent = 'Copied'; }), code.parentNode);
  }

  // Paper shows what is folded.
  let folded = [];
  addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('details:not([open])')];
    for (const d of folded) d.open = true;
  });
  addEventListener('afterprint', () => { for (const d of folded) d.open = false; });

  // Numbers are written as the page writes them, with two digits or three.
  const digits = v => String(+v.toPrecision(Math.abs(v) < 1 ? 2 : 3));
  const scaled = (v, units, step, gap) => {
    let i = 0;
    while (Math.abs(v) >= step * 0.9995 && i < units.length - 1) { v /= step; i++; }
    return digits(v) + (units[i] ? gap + units[i] : '');
  };
  const written = {
    ns: v => scaled(v, ['ns', 'µs', 'ms', 's'], 1000, ' '),
    B: v => scaled(v, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024, ' '),
    '': v => scaled(v, ['', 'k', 'M', 'G', 'T'], 1000, ''),
  };

  // Each chart over time: its stretch of time, and its lines once somebody asks for them.
  const charts = [...document.querySelectorAll('figure[data-time]')].map(figure => {
    const [from, to] = figure.dataset.time.split(' ').map(Number);
    const [low, high, log] = figure.dataset.scale.split(' ');
    const plot = figure.querySelector('.plot'), data = figure.querySelector('.data');
    const [, , width, height] = data.getAttribute('viewBox').split(' ').map(Number);
    const says = figure.querySelector('figcaption').appendChild(document.createElement('output'));
    return {figure, plot, data, says, from, to, width, height, low: +low, high: +high, log: log === 'true', steps: width / (to - from)};
  });
  if (!charts.length) return;
  const first = Math.min(...charts.map(c => c.from)), last = Math.max(...charts.map(c => c.to));
  let from = first, to = last;

  // Points of a line: where each part begins, then step by step.
  const points = path => {
    const out = [];
    for (const part of path.getAttribute('d').split('M').slice(1)) {
      const n = part.split('V')[0].match(/-?\d+/g).map(Number);
      let x = n[0], y = n[1];
      out.push([x, y]);
      for (let i = 2; i + 1 < n.length; i += 2) out.push([x += n[i], y += n[i + 1]]);
    }
    return out;
  };
  const value = (c, y) => {
    const part = 1 - y / c.height;
    return c.log ? c.low * Math.pow(c.high / c.low, part) : c.low + part * (c.high - c.low);
  };
  const nearest = (line, x) => {
    let a = 0, b = line.length - 1;
    while (b - a > 1) { const m = (a + b) >> 1; if (line[m][0] < x) a = m; else b = m; }
    return Math.abs(line[a][0] - x) <= Math.abs(line[b][0] - x) ? line[a] : line[b];
  };
  const two = n => String(Math.floor(n)).padStart(2, '0');
  const clock = s => {
    const n = Math.round(Math.abs(s) * 10), v = Math.floor(n / 10), part = to - from < 10 && n % 10 ? '.' + n % 10 : '';
    return (s < 0 ? '−' : '') + (v < 3600 ? two(v / 60) : Math.floor(v / 3600) + ':' + two(v / 60 % 60)) + ':' + two(v % 60) + part;
  };

  // What was there at a moment, in every chart.
  const show = at => {
    for (const c of charts) {
      c.lines ??= [...c.data.querySelectorAll('[data-name]')].map(p => [p.dataset.name, points(p)]);
      c.cursor ??= svg('line', {class: 'cursor', y2: '100%'}, c.plot);
      const x = (at - from) / (to - from) * 100 + '%';
      c.cursor.setAttribute('x1', x);
      c.cursor.setAttribute('x2', x);
      c.cursor.style.display = '';
      const place = (at - c.from) * c.steps, near = Math.max(c.steps, c.width / 400);
      const said = [];
      for (const [name, line] of c.lines) {
        const [px, py] = nearest(line, place);
        if (Math.abs(px - place) <= near) said.push((c.lines.length > 1 ? name + ' ' : '') + written[c.figure.dataset.unit](value(c, py)));
      }
      c.says.textContent = clock(at) + (said.length ? ' · ' + said.join(', ') : '');
    }
  };
  const hide = () => {
    for (const c of charts) {
      if (c.cursor) c.cursor.style.display = 'none';
      c.says.textContent = '';
    }
  };

  // Zoom: all charts show the same stretch of time.
  const even = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400];
  const zoom = (a, b) => {
    const least = Math.min(2, last - first), span = Math.min(Math.max(b - a, least), last - first);
    from = Math.min(Math.max(a, first), last - span);
    to = from + span;
    const step = even.find(s => span / s <= 8) || Math.ceil(span / 8 / 86400) * 86400;
    for (const c of charts) {
      c.data.setAttribute('viewBox', [(from - c.from) * c.steps, 0, span * c.steps, c.height].join(' '));
      const ticks = c.plot.querySelector('.ticks');
      ticks.replaceChildren();
      let i = 0;
      for (let k = Math.ceil(from / step); k * step <= to + 1e-9; k++) {
        svg('text', {class: i++ % 2 ? 'odd' : '', x: (k * step - from) / span * 100 + '%', y: '100%', dy: 15, 'text-anchor': 'middle'}, ticks).textContent = clock(k * step);
      }
      for (const name of c.plot.querySelectorAll('.name')) {
        const part = (name.dataset.at - from) / span;
        name.setAttribute('x', part * 100 + '%');
        name.style.display = part < -0.001 || part > 1 ? 'none' : '';
      }
    }
    range.textContent = clock(from) + ' to ' + clock(to);
  };
  const bar = document.createElement('div');
  bar.className = 'zoom';
  bar.setAttribute('role', 'group');
  bar.setAttribute('aria-label', 'Zoom of all charts over time');
  const around = by => { const m = (from + to) / 2, half = (to - from) / 2 * by; zoom(m - half, m + half); };
  const move = by => { const d = (to - from) * by; zoom(from + d, to + d); };
  button('Zoom in', () => around(0.5), bar);
  button('Zoom out', () => around(2), bar);
  button('Earlier', () => move(-0.5), bar);
  button('Later', () => move(0.5), bar);
  button('All', () => zoom(first, last), bar);
  const range = bar.appendChild(document.createElement('span'));
  range.setAttribute('aria-live', 'polite');
  bar.append('Drag over a chart to zoom in; double-click shows all.');
  charts[0].figure.before(bar);
  zoom(first, last);

  for (const c of charts) {
    const at = event => {
      const box = c.plot.getBoundingClientRect();
      return from + Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * (to - from);
    };
    let begun = null, chosen = null;
    c.plot.addEventListener('pointerdown', event => {
      if (event.button) return;
      begun = at(event);
      c.plot.setPointerCapture(event.pointerId);
    });
    c.plot.addEventListener('pointermove', event => {
      const now = at(event);
      show(now);
      if (begun === null) return;
      chosen ??= svg('rect', {class: 'chosen', height: '100%'}, c.plot);
      chosen.setAttribute('x', (Math.min(begun, now) - from) / (to - from) * 100 + '%');
      chosen.setAttribute('width', Math.abs(now - begun) / (to - from) * 100 + '%');
    });
    const end = event => {
      const a = begun, b = at(event);
      begun = null;
      chosen?.remove();
      chosen = null;
      if (a !== null && event.type === 'pointerup' && Math.abs(b - a) > (to - from) / 100) zoom(Math.min(a, b), Math.max(a, b));
    };
    c.plot.addEventListener('pointerup', end);
    c.plot.addEventListener('pointercancel', end);
    c.plot.addEventListener('pointerleave', hide);
    c.plot.addEventListener('dblclick', () => zoom(first, last));
  }
})();
