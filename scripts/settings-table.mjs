// Writes the tables of settings into README.md, from the definitions that read them. A test holds them equal.
// node scripts/settings-table.mjs
import { readFile, writeFile } from 'node:fs/promises'
import { isEverywhere } from '../src/settings/setting.ts'
import { settingRows } from '../src/settings/table.ts'

/** The inputs by group, then what only the file can hold. */
export function settingsMarkdown() {
  return [
    '| group | input | default | meaning |',
    '| --- | --- | --- | --- |',
    ...settingRows.filter(isEverywhere).map((row) => cells(row.group, `\`${row.input}\``, ...texts(row))),
    '',
    'Only in the configuration file:',
    '',
    '| key | default | meaning |',
    '| --- | --- | --- |',
    ...settingRows.filter((row) => !isEverywhere(row)).map((row) => cells(`\`${row.key}\``, ...texts(row))),
    '',
  ].join('\n')
}

function texts({ standard, description, noEffect }) {
  return [standard === '' ? '' : `\`${standard}\``, noEffect ? `${description} *Later.*` : description]
}

function cells(...all) {
  return `| ${all.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`
}

if (import.meta.main) {
  const readme = new URL('../README.md', import.meta.url)
  const text = await readFile(readme, 'utf8')
  const marked = /(?<=<!-- inputs -->\n)[\s\S]*(?=<!-- \/inputs -->)/
  await writeFile(
    readme,
    text.replace(marked, () => settingsMarkdown()),
  )
}
