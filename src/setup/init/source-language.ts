// The language that most files of a project are in, by the ends of their names. Pure.
const LANGUAGES: Readonly<Record<string, string>> = {
  ada: 'Ada',
  adb: 'Ada',
  c: 'C',
  cc: 'C++',
  clj: 'Clojure',
  cob: 'COBOL',
  cpp: 'C++',
  cr: 'Crystal',
  cs: 'C#',
  d: 'D',
  dart: 'Dart',
  elm: 'Elm',
  erl: 'Erlang',
  ex: 'Elixir',
  f90: 'Fortran',
  fs: 'F#',
  gleam: 'Gleam',
  go: 'Go',
  groovy: 'Groovy',
  hs: 'Haskell',
  java: 'Java',
  jl: 'Julia',
  js: 'JavaScript',
  kt: 'Kotlin',
  lua: 'Lua',
  m: 'Objective-C',
  ml: 'OCaml',
  nim: 'Nim',
  nix: 'Nix',
  php: 'PHP',
  pl: 'Perl',
  pm: 'Perl',
  ps1: 'PowerShell',
  py: 'Python',
  r: 'R',
  rb: 'Ruby',
  rkt: 'Racket',
  rs: 'Rust',
  scala: 'Scala',
  sh: 'Shell',
  sol: 'Solidity',
  swift: 'Swift',
  tf: 'Terraform',
  ts: 'TypeScript',
  v: 'V',
  zig: 'Zig',
}

/** Null if no file is in a language of this list. */
export function sourceLanguage(paths: readonly string[]): string | null {
  const counts = new Map<string, number>()
  for (const path of paths) {
    const language = LANGUAGES[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '']
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1)
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a)
  return most?.[0] ?? null
}
