import { GO_LIVE_LABELS as EN } from '#shared/contracts/go-live-labels.ts'
import type { GoLiveLine, GoLiveReport } from '#shared/contracts/go-live-report.ts'

const MARKS = { passed: '✓', failed: '✗', out_of_date: '↻', open: '·' } as const

/** The checks before real money arrives, each that has not passed with what to do; the last line is the sum. */
export function goLiveText({ lines, passed, isReady }: GoLiveReport): string {
  const sum = isReady ? 'Everything has passed.' : `${passed} of ${lines.length} passed.`
  return [...lines.map(describe), sum].join('\n')
}

function describe({ item, kind, state, at, by, reason, about, path, steps }: GoLiveLine): string {
  const words = EN.items[kind]
  const when = at === null || by === null ? '' : `, ${new Date(at).toISOString().slice(0, 16)}Z by ${by}`
  const head = `${MARKS[state]} ${words.title} [${item}]: ${EN.states[state]}${when}`
  if (state === 'passed') return head
  const why = reason === null ? [] : [`    ${EN.reasons[reason](about)}`]
  const place = path === null ? [] : [`    Address to compare: ${path}`]
  const progress = steps === null ? [] : [`    invoice ${steps.number} (${steps.invoiceId}): ${stepsText(steps)}`]
  return [head, ...why, ...place, ...progress, `    Why: ${words.why}`, `    How: ${words.mend}`].join('\n')
}

const stepsText = (steps: NonNullable<GoLiveLine['steps']>): string =>
  (['seen', 'confirming', 'paid', 'delivered'] as const)
    .map((step) => `${steps[step] ? '✓' : '·'} ${EN.steps[step]}`)
    .join(', ')
