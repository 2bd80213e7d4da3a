// Draws the pictures of the docs from real output: demo.png, comment.png and threads.png. Needs tmux, chromium and a font
// with emoji, which nothing else of the project does. Run: npm run build && node scripts/pictures.mjs
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { marked } from 'marked'
import { goodTurn, openSite, story } from '../test/e2e/site.ts'
import { stickyComment } from '../test/unit/report/rendered.ts'
import { limits, midRun, NOW } from '../test/unit/report/samples.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), 'pictures-'))

/** The screen of a terminal after a program has ended in it, with its colours. */
function screenOf(command, columns, rows) {
  const tmux = (...args) =>
    execFileSync('tmux', ['-L', 'pictures', '-f', '/dev/null', ...args], { encoding: 'utf8' })
  tmux(
    'new-session',
    '-d',
    '-x',
    String(columns),
    '-y',
    String(rows),
    `${command}; tmux -L pictures wait-for -S done; cat`,
  )
  tmux('wait-for', 'done')
  const text = tmux('capture-pane', '-e', '-p')
  tmux('kill-server')
  return text
}

const COLOURS = { 31: '#ff7b72', 32: '#3fb950', 33: '#d29922', 34: '#79c0ff', 36: '#56d4dd' }

function htmlOf(ansi) {
  let style = ''
  const escaped = ansi.replace(/[&<>]/g, (mark) => `&#${mark.charCodeAt(0)};`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
  const coloured = escaped.replace(/\x1b\[([0-9;]*)m([^\x1b]*)/g, (_all, codes, text) => {
    for (const code of codes.split(';').map(Number)) {
      if (code === 0 || code === 39) style = ''
      else if (code === 1) style += 'font-weight:bold;'
      else if (code === 2) style += 'opacity:.62;'
      else if (COLOURS[code] !== undefined) style += `color:${COLOURS[code]};`
    }
    return `<span style="${style}">${text}</span>`
  })
  return `<pre>${coloured.trimEnd()}</pre>`
}

function picture(name, width, height, css, body) {
  const page = join(folder, `${name}.html`)
  writeFileSync(page, `<!doctype html><meta charset="utf-8"><style>body{margin:0}${css}</style>${body}`)
  const args = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    '--force-device-scale-factor=1',
  ]
  const file = join(root, 'docs', `${name}.png`)
  execFileSync(
    'chromium',
    [...args, `--window-size=${width},${height}`, `--screenshot=${file}`, `file://${page}`],
    {
      stdio: 'ignore',
    },
  )
}

const screen = screenOf(`"${process.execPath}" "${join(root, 'dist/cli/main.js')}" demo`, 100, 130)
const lines = screen.split('\n')
const shown = lines.slice(
  lines.findIndex((line) => line.includes('No model')),
  lines.findIndex((line) => line.includes('Look at it')),
)
const PAPER =
  'body{background:#0d1117;color:#e6edf3}pre{margin:20px 24px;font:13px/17px "DejaVu Sans Mono",monospace}'
const text = shown.join('\n').trim()
picture('demo', 850, text.split('\n').length * 17 + 40, PAPER, htmlOf(text))

const facts = {
  repositoryUrl: 'https://github.com/acme/shop',
  runUrl: 'https://github.com/acme/shop/actions/runs/1',
}
const changes = {
  'US-001': { files: 4, added: 118, removed: 6 },
  'US-002': { files: 3, added: 57, removed: 4 },
  'US-004': { files: 5, added: 164, removed: 12 },
}
const comment = stickyComment(midRun(), { ...facts, limits, now: NOW, notes: [], changes })
const GITHUB = `
body{font:14px/1.5 -apple-system,"Segoe UI","Noto Sans",Helvetica,Arial,sans-serif;color:#1f2328;background:#fff}
main{margin:20px;border:1px solid #d1d9e0;border-radius:6px} header{background:#f6f8fa;padding:8px 16px;border-bottom:1px solid #d1d9e0;color:#59636e;border-radius:6px 6px 0 0}
article{padding:16px} h3{margin-top:0} table{border-collapse:collapse;margin:12px 0} th,td{border:1px solid #d1d9e0;padding:6px 13px}
code{background:#818b981f;padding:.2em .4em;border-radius:6px;font:12px "DejaVu Sans Mono",monospace} a{color:#0969da;text-decoration:none} sub{color:#59636e} blockquote{border-left:4px solid #d1d9e0;margin:0;padding:0 16px;color:#59636e}`
picture(
  'comment',
  900,
  730,
  GITHUB,
  `<main><header><b>github-actions</b> commented</header><article>${marked.parse(comment.replaceAll('<details open>', '<details>'))}</article></main>`,
)

/** A review of a complete run, before and after Ralph has worked on it. */
async function reviewOnPull() {
  const files = {
    'src/cart.mjs': 'export const total = (items) =>\n  items.reduce((sum, { price }) => sum + price)\n',
  }
  const fixed = {
    'src/cart.mjs':
      'export const total = (items) =>\n  items.reduce((sum, { price }) => sum + price, 0)\n\nexport const format = (cents) => `$${(cents / 100).toFixed(2)}`\n',
  }
  await using site = await openSite({
    stories: [story('US-001', 'the cart shows its total')],
    script: {
      'US-001': [{ files: { ...goodTurn('one', 1).files, ...files } }],
      'FIX-1': [
        {
          files: fixed,
          say: 'The sum starts at 0, and format writes cents as dollars.\n<ralph>DONE</ralph>',
        },
      ],
      'answer FIX-2': [
        { say: '<ralph>ANSWER</ralph>\nPrices are in cents, so the sum has no rounding errors.' },
      ],
    },
    inputs: { 'final-verification': 'false', baseline: 'off', 'agents-md': 'off' },
  })
  await site.go()
  const { number } = await site.pull()
  site.github.review('bob', number, {
    threads: [
      {
        path: 'src/cart.mjs',
        line: 2,
        body: 'This fails for an empty cart.\n```suggestion\n  items.reduce((sum, { price }) => sum + price, 0)\n```',
      },
      { path: 'src/cart.mjs', line: 2, body: 'Export a function that formats the total, please.' },
      { path: 'src/cart.mjs', line: 2, body: 'Why no decimal type?' },
    ],
  })
  const before = threadsOf(site, number).map((one) => ({ ...one, comments: one.comments.slice(0, 1) }))
  await site.runner.settled()
  const title = (await site.checks()).get('ralph')?.title ?? ''
  return { before, after: threadsOf(site, number), title }
}

function threadsOf(site, number) {
  return site.github.threads(number).map(({ path, isResolved, comments }) => ({
    path,
    isResolved,
    comments: comments.map(({ body }, at) => ({ body, by: at === 0 ? 'bob' : 'github-actions' })),
  }))
}

const reviewed = await reviewOnPull()
const THREADS = `${GITHUB} body{display:flex} section{flex:1;margin:0 12px} section>h3{margin:16px 0 0}
main{margin:12px 0} header span{float:right;color:#1a7f37} article{padding:8px 16px;border-top:1px solid #d1d9e0} pre{background:#f6f8fa;padding:8px;border-radius:6px} pre code{background:none;padding:0}`
const columnOf = (title, threads) =>
  `<section><h3>${title}</h3>${threads
    .map(({ path, isResolved, comments }) => {
      const state = isResolved ? '<span>✓ resolved</span>' : ''
      const bodies = comments.map(({ body, by }) => `<article><b>${by}</b>${marked.parse(body)}</article>`)
      return `<main><header>${path}${state}</header>${bodies.join('')}</main>`
    })
    .join('')}</section>`
picture(
  'threads',
  1100,
  880,
  THREADS,
  `${columnOf('The review', reviewed.before)}${columnOf(reviewed.title, reviewed.after)}`,
)
rmSync(folder, { recursive: true, force: true })
