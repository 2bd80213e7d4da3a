// Reads YAML of unknown shape.
import { parse } from 'yaml'
import { asObject, type Json } from '../engine/model/json.ts'

/** The text parsed as a YAML map; null for anything else. */
export function yamlObject(text: string): Json | null {
  try {
    return asObject(parse(text))
  } catch {
    return null
  }
}
