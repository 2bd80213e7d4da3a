// What a settings text is once it is parsed: plain data, maps that keep their order and know no prototypes.

/** A parsed value. Maps are `Map`, so that `__proto__` is a key like any other and `2` does not sort before `10`. */
export type Tree = string | number | boolean | null | readonly Tree[] | TreeMap
export type TreeMap = ReadonlyMap<string, Tree>

/** True for a map (arrays and scalars are not). */
export function isMap(value: Tree): value is TreeMap {
  return value instanceof Map
}

/** True for a list. */
export function isList(value: Tree): value is readonly Tree[] {
  return Array.isArray(value)
}
