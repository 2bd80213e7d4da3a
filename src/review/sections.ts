// Files of settings for many things, as a list of what they say: `tool.pytest.ini_options.addopts="-q"`.

/** `path` is where it stands, `inner` the paths of what stands in inline tables, `text` all of it without blanks. */
export type Setting = { path: string; inner: string[]; text: string }

/** A string, a comment, or one sign. Strings end with the text where nothing else ends them: no sign is read twice. */
const TOML =
  /"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n]+)*"?|'[^'\n]*'?|#[^\n]*|[^"'#\s[\]{}=]+|[\s\S]/g

/** Headers, arrays over several lines, dotted and quoted keys. What is no TOML gives settings all the same. */
export function tomlSettings(text: string): Setting[] {
  const settings: Setting[] = []
  let section = ''
  let [path, said, depth]: [string | null, string, number] = [null, '', 0]
  let inner: string[] = []
  let last = ''
  const end = (): void => {
    if (path === null && said.startsWith('[')) section = nameOf(said.replace(/^\[+|\]+$/g, ''))
    if (said !== '') settings.push({ path: path ?? section, inner, text: `${section}:${said}` })
    ;[path, said, depth, inner, last] = [null, '', 0, [], '']
  }
  for (const [token] of text.matchAll(TOML)) {
    if (token === '\n' && depth === 0) end()
    if (/^[\s#]/.test(token)) continue
    if (token === '=' && path === null) path = under(section, nameOf(said))
    else if (token === '=') inner.push(`${path}.${nameOf(last)}`)
    else if (/^[[{]$/.test(token)) depth += 1
    else if (/^[\]}]$/.test(token)) depth = Math.max(0, depth - 1)
    said += token
    last = token
  }
  end()
  return settings
}

/** Sections of `[name]` at the start of a line, and the lines under them: an indented line goes on with a value. */
export function iniSettings(text: string): Setting[] {
  const settings: Setting[] = []
  let section = ''
  for (const line of text.split('\n')) {
    const header = /^\[([^\]]*)\]/.exec(line)?.[1]
    if (header !== undefined) section = nameOf(header.trim())
    const said = line.replace(/\s+/g, '')
    if (said !== '' && !/^[#;]/.test(said))
      settings.push({ path: section, inner: [], text: `${section}:${said}` })
  }
  return settings
}

function under(section: string, name: string): string {
  return section === '' ? name : `${section}.${name}`
}

/** No name is longer, or many settings of one long section would be too much text. */
function nameOf(key: string): string {
  return key.slice(0, 200).replace(/["']/g, '')
}
