// Ends Ralph's own process: its output is flushed first, and open handles do not keep it alive.

/** Exits with `process.exitCode`. A pipe holds 64 KB: output beyond that would be lost without waiting for the reader. */
export async function exitAfterFlush(): Promise<never> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => stream.write('', () => resolve()))
  process.exit(process.exitCode ?? 0)
}
