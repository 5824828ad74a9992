/** Who acts; decides the mark and colour of the line. */
export type Actor = 'system' | 'merchant' | 'payer' | 'chain' | 'webhook' | 'verdict' | 'fault'

const LOOK: Record<Actor, { readonly mark: string; readonly name: string; readonly colour: number }> = {
  system: { mark: '·', name: '', colour: 90 },
  merchant: { mark: '▸', name: 'merchant', colour: 36 },
  payer: { mark: '◆', name: 'payer', colour: 35 },
  chain: { mark: '⛓', name: 'chain', colour: 34 },
  webhook: { mark: '✉', name: 'webhook', colour: 33 },
  verdict: { mark: '✓', name: '', colour: 32 },
  fault: { mark: '✗', name: '', colour: 31 },
}

export type Timeline = ReturnType<typeof createTimeline>

/** A timeline for people; with colours only on a terminal without NO_COLOR (https://no-color.org). */
export function createTimeline(out: NodeJS.WriteStream) {
  const started = performance.now()
  const coloured = out.isTTY === true && process.env['NO_COLOR'] === undefined
  const paint = (colour: number, text: string) => (coloured ? `\u001b[${colour}m${text}\u001b[0m` : text)
  return {
    /** Prints one line, stamped with the seconds since the timeline began. */
    line(actor: Actor, text: string): void {
      const { mark, name, colour } = LOOK[actor]
      const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6)
      out.write(`${paint(90, `${seconds} s`)}  ${paint(colour, `${mark} ${name.padEnd(8)}`)}  ${text}\n`)
    },

    /** Prints a line without a time, indented under the last one. */
    note(text: string): void {
      out.write(`${' '.repeat(22)}${paint(90, text)}\n`)
    },
  }
}
