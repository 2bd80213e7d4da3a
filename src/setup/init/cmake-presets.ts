// Presets of CMake that a Linux machine can use: how a project is configured, built and tested. Pure.
import { asObject, asObjects, asString, type Json, jsonObject } from '../../engine/model/json.ts'
import type { Folder } from './project.ts'

const NAMES = /^(?:default|ci|dev|linux|debug|test)\b/i
/** Generators and names of other systems. */
const ELSEWHERE = /visual studio|xcode|msvc|windows|win(?:32|64)|macos|darwin|osx|android|ios|arm/i

/** Command lines that configure and build, and that test; null if no preset can be used here. */
export function cmakePresets(folder: Folder): { build: string; test: string | null } | null {
  const file = jsonObject(folder.text('CMakePresets.json'))
  const configure = best(asObjects(file?.configurePresets))
  if (configure === null) return null
  const usesIt = ({ configurePreset }: Json) => configurePreset === configure
  const build = best(asObjects(file?.buildPresets).filter(usesIt))
  const test = best(asObjects(file?.testPresets).filter(usesIt))
  const folderOf = binaryFolder(asObjects(file?.configurePresets), configure)
  const building = build === null ? folderOf : `--preset ${build}`
  if (building === null) return null
  const testing = test === null ? folderOf : `--preset ${test}`
  return {
    build: `cmake --preset ${configure} && cmake --build ${building} --parallel 4`,
    test: testing === null ? null : `ctest ${test === null ? '--test-dir ' : ''}${testing}`,
  }
}

/** A preset with a usual name, else the first. */
function best(presets: readonly Json[]): string | null {
  const names = presets.flatMap((preset) => {
    const name = asString(preset.name) ?? ''
    const condition = JSON.stringify(asObject(preset.condition) ?? '')
    const isElsewhere = ELSEWHERE.test(`${name} ${asString(preset.generator) ?? ''} ${condition}`)
    return preset.hidden === true || isElsewhere || !/^[\w.-]+$/.test(name) ? [] : [name]
  })
  return names.find((name) => NAMES.test(name)) ?? names[0] ?? null
}

/** The folder of the build, which a preset may inherit; null if it is not below the project. */
function binaryFolder(presets: readonly Json[], name: string): string | null {
  const written = inherited(presets, name)
  const path = written?.replace(/^\$\{sourceDir\}\//, '').replace(/\$\{presetName\}/g, name) ?? ''
  return /^(?![/.])[\w./-]+$/.test(path) ? path : null
}

function inherited(presets: readonly Json[], name: string, depth = 0): string | null {
  const preset = presets.find((one) => one.name === name)
  const own = asString(preset?.binaryDir)
  if (own !== null || depth > 5) return own
  const parents = [preset?.inherits].flat().filter((one) => typeof one === 'string')
  return parents.map((one) => inherited(presets, one, depth + 1)).find((one) => one !== null) ?? null
}
