import type { ChainStatus, FactComparison } from '#shared/contracts/chain-status.ts'

type Facts = Pick<ChainStatus, 'mode' | 'facts' | 'row'>

/** What was measured of a network beside its row, one sentence without a full stop. */
export function factsText({ facts }: Pick<ChainStatus, 'facts'>): string {
  return facts
    .filter(({ row }) => row !== null)
    .map(
      ({ fact, unit, row, measured }) =>
        `${NAMES[fact]} ${measured === null ? 'not measured yet' : amountText(measured, unit)} (${ROWS[fact]} ${amountText(row ?? 0, unit)})`,
    )
    .join(', ')
}

/**
 * What to compare with the world: a row that nobody compared for 180 days, and figures of a live network that the scanner measured otherwise. Test
 * networks may be local chains, which have their own pace.
 */
export function factWarnings({ mode, facts, row }: Facts): readonly string[] {
  const off = facts.filter(({ isOff }) => isOff && mode === 'live').map(({ fact }) => NAMES[fact])
  return [
    ...(off.length === 0
      ? []
      : [
          `${off.join(' and ')} ${off.length === 1 ? 'differs' : 'differ'} from the row: see ChainFactsOff in deploy/RUNBOOK.md`,
        ]),
    ...(row.isOld
      ? [`the row was last compared on ${row.on}, more than 180 days ago: see docs/upgrades-ahead.md`]
      : []),
  ]
}

const NAMES: Readonly<Record<FactComparison['fact'], string>> = {
  block_time: 'block time',
  finality: 'finality',
  reorganisation: 'deepest reorganisation',
}
const ROWS: Readonly<Record<FactComparison['fact'], string>> = {
  block_time: 'row',
  finality: 'row',
  reorganisation: 'halts beyond',
}

function amountText(amount: number, unit: FactComparison['unit']): string {
  if (unit === 'blocks') return `${amount} ${amount === 1 ? 'block' : 'blocks'}`
  const seconds = amount / 1_000
  return seconds < 90 ? `${Number(seconds.toPrecision(3))} s` : `${Math.round(seconds / 60)} min`
}
