const TELL_EVERY_MS = 1_000

/** Says at most once a second how far something is, on stderr, so that `--json` stays one value. */
export function progressTeller(): (text: string) => void {
  let toldAt = performance.now()
  return (text) => {
    if (performance.now() - toldAt < TELL_EVERY_MS) return
    toldAt = performance.now()
    process.stderr.write(`${text}\n`)
  }
}
