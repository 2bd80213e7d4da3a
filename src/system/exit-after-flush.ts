// The end of a process of ours: what it has said is read first, and nothing that is left open holds it.

/** Ends this process with `process.exitCode`. A pipe takes 64 KB at once: what is still to be read does not end with us. */
export async function exitAfterFlush(): Promise<never> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => stream.write('', () => resolve()))
  process.exit(process.exitCode ?? 0)
}
