import type { NodeCosts, ProviderCost } from '#shared/contracts/node-costs.ts'
import { unitName } from '#shared/usecases/networks/node-costs.ts'
import { table } from './output.ts'

const count = (value: number): string => value.toLocaleString('en')
const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`
const blocks = (value: number | null): string => (value === null ? '-' : count(value))

/** Free and paid plans; `-` where nothing is stated. */
const rangeText = (range: ProviderCost['logRangeMax']): string =>
  range === null ? '-' : `${blocks(range.free)} / ${blocks(range.paid)}`

/** What nodes are asked today and this month, and how much of each quota is used. Nothing before the first stored call. */
export function costLines({ providers, quotas }: NodeCosts): readonly string[] {
  const rows = providers.map(({ mode, network, provider, unit, today, month, monthEstimate, logRangeMax }) => [
    `${mode} ${network}`,
    provider,
    unitName(unit),
    count(today.calls),
    count(today.units),
    count(month.calls),
    count(month.units),
    monthEstimate === null ? '-' : count(monthEstimate),
    megabytes(month.bytes),
    rangeText(logRangeMax),
  ])
  const head = [
    ...['NETWORK', 'PROVIDER', 'UNIT', 'CALLS TODAY', 'UNITS TODAY', 'CALLS MONTH', 'UNITS MONTH'],
    ...['WHOLE MONTH', 'DATA MONTH', 'LOG BLOCKS FREE/PAID'],
  ]
  const shares = quotas.map((state) => {
    const { mode, network, used, perMonth, unit, usedShare, sentence } = state
    const share = `${Math.floor(usedShare * 100)} %`
    const figures = `${count(used)} of ${count(perMonth)} ${unitName(unit)} this month (${share})`
    const mark = state.level === 'critical' ? 'ERROR: ' : state.level === 'warning' ? 'WARNING: ' : ''
    return `${mark}${mode} ${network} quota: ${figures}${sentence === null ? '' : `. ${sentence}`}`
  })
  if (rows.length === 0) return shares
  return [
    '',
    table(head, rows, ''),
    'Units are estimated from the providers’ lists; days and months are UTC.',
    ...shares,
  ]
}
