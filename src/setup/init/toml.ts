// Reads TOML of unknown shape.
import { parse } from 'smol-toml'
import type { Json } from '../../engine/model/json.ts'

/** The text parsed; empty if it is not TOML. */
export function tomlIn(text: string): Json {
  try {
    return parse(text)
  } catch {
    return {}
  }
}
