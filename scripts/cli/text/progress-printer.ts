const TELL_EVERY_MS = 1_000

/** Prints progress at most once a second on stderr, so that the output of `--json` remains one value. */
export function progressPrinter(): (text: string) => void {
  let reportedAt = performance.now()
  return (text) => {
    if (performance.now() - reportedAt < TELL_EVERY_MS) return
    reportedAt = performance.now()
    process.stderr.write(`${text}\n`)
  }
}
