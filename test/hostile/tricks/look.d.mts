/** The keys in a text, also where they stand in base64. */
export function keysIn(text: string): Set<string>
