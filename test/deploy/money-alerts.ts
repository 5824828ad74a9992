import { type AlertCase, counter, gauge, queueAge } from './alert-case.ts'

const CHAIN = '{mode="live",network="ethereum"}'

const LOOK_FAILURES = 'paymesh_scanner_look_failures_total{mode="live",network="base"}'
const QUOTA = 'paymesh_node_quota_used_ratio{mode="live",network="ethereum",unit="alchemy"}'

const violations = (invariant: string, instance = 'a') =>
  `paymesh_invariant_violation_total{invariant="${invariant}",instance="${instance}"}`

const votes = (rate: string, used: number, expected: number, min: number) => ({
  [`paymesh_rate_sources{rate="${rate}"}`]: `${used}+0x60`,
  [`paymesh_rate_sources_expected{rate="${rate}"}`]: `${expected}+0x60`,
  [`paymesh_rate_sources_min{rate="${rate}"}`]: `${min}+0x60`,
})

const pair = (source: string, name: string, reason: string, used: number) => ({
  [`paymesh_rate_pair_dropped_total{source="${source}",pair="${name}",reason="${reason}"}`]: '0+4x600',
  [`paymesh_rate_pair_used{source="${source}",pair="${name}"}`]: `${used}+0x600`,
})

/** Alerts about chains, rates, wallets and invoices. */
export const MONEY_ALERTS: Readonly<Record<string, AlertCase>> = {
  ChainHalted: gauge(`paymesh_chain_halted${CHAIN}`, 1, 0, '2m', '50s'),
  ChainStuck: gauge(
    'paymesh_chain_stuck{mode="live",network="ethereum",cause="block_unreadable",block="7",method="trace_block"}',
    1,
    0,
    '2m',
    '50s',
  ),
  ChainLagging: gauge(`paymesh_chain_lagging${CHAIN}`, 1, 0, '3m', '110s'),
  ChainNeverScanned: gauge(`paymesh_chain_scanned${CHAIN}`, 0, 1, '12m', '9m'),
  ChainNodesDisagree: gauge(`paymesh_chain_waiting${CHAIN}`, 1, 0, '6m', '4m'),
  ChainFactsOff: gauge('paymesh_chain_fact_off{mode="live",network="base",fact="block_time"}', 1, 0, '62m', '58m'),
  NodeLies: counter('paymesh_scanner_node_outvoted_total{mode="live",network="bitcoin",provider="a.example"}'),
  NodeOutdated: gauge(
    'paymesh_scanner_node_outdated{mode="live",network="tron",provider="a.example"}',
    1,
    0,
    '6m',
    '4m',
  ),
  LooksFail: {
    interval: '1m',
    fires: [
      { why: 'they fail again and again', series: { [LOOK_FAILURES]: '0+0x130 1+1x20' }, at: '148m' },
      { why: 'they have never worked', series: { [LOOK_FAILURES]: '_x10 1+1x30' }, at: '30m' },
    ],
    silent: [
      { why: 'one failed', series: { [LOOK_FAILURES]: '0+0x130 1+0x60' }, at: '150m' },
      { why: 'they failed long ago', series: { [LOOK_FAILURES]: '9+0x300' }, at: '200m' },
    ],
  },
  BalanceGaps: counter('paymesh_scanner_balance_gaps_total{mode="live",network="bsc"}'),
  NodeOnOtherChain: gauge(
    'paymesh_scanner_node_excluded{mode="live",network="ethereum",provider="a.example"}',
    1,
    0,
    '3m',
    '1m',
  ),
  NodeQuotaWarning: {
    fires: [{ why: 'four fifths are used', series: { [QUOTA]: '0.8+0x400' }, at: '6m' }],
    silent: [
      { why: 'less is used', series: { [QUOTA]: '0.79+0x400' }, at: '60m' },
      { why: 'the other alert says it', series: { [QUOTA]: '0.95+0x400' }, at: '60m' },
      { why: 'has not lasted yet', series: { [QUOTA]: '0.8+0x400' }, at: '4m' },
    ],
  },
  NodeQuotaCritical: gauge(QUOTA, 0.95, 0.94, '6m', '4m'),
  DeepReorg: {
    ...counter('paymesh_scanner_reorg_total{mode="live",network="bitcoin",depth="11+"}'),
    silent: [
      {
        why: 'is as shallow as is common',
        series: { 'paymesh_scanner_reorg_total{mode="live",network="bitcoin",depth="2"}': '0+1x120' },
        at: '20m',
      },
    ],
  },
  PaymentsUnconfirmedBySecondNode: counter('paymesh_scanner_unconfirmed_by_second_node_total{network="tron"}'),
  RatesStale: gauge('paymesh_rate_snapshot_age_seconds', 200, 20, '2m', '50s'),
  RateMissing: gauge('paymesh_rate_available{rate="BTC"}', 0, 1, '6m', '4m'),
  RateFewSources: {
    fires: [
      { why: 'one more than the quorum is left of six', series: votes('BTC', 4, 6, 3), at: '12m' },
      { why: 'a currency is at its quorum', series: votes('DOP', 2, 3, 2), at: '12m' },
    ],
    silent: [
      { why: 'one of six is gone', series: votes('BTC', 5, 6, 3), at: '12m' },
      { why: 'a currency has no more sources than these', series: votes('DOP', 3, 3, 2), at: '12m' },
      { why: 'another alert says that there is none', series: votes('DOP', 1, 3, 2), at: '12m' },
      { why: 'has not lasted yet', series: votes('BTC', 4, 6, 3), at: '8m' },
    ],
  },
  RatePairGone: {
    interval: '5m',
    fires: [{ why: 'a pair was delisted', series: pair('okx', 'BTC/USD', 'unlisted', 0), at: '7h30m' }],
    silent: [
      { why: 'it is used again', series: pair('okx', 'BTC/USD', 'unlisted', 1), at: '7h30m' },
      {
        why: 'the source does not respond, which another alert shows',
        series: pair('okx', 'BTC/USD', 'no_answer', 0),
        at: '7h30m',
      },
    ],
  },
  RateClockOff: {
    fires: [
      { why: 'our clock is behind', series: { paymesh_rate_clock_offset_seconds: '6+0x60' }, at: '5m' },
      { why: 'our clock is ahead', series: { paymesh_rate_clock_offset_seconds: '-70+0x60' }, at: '5m' },
    ],
    silent: [{ why: 'a second or two are normal', series: { paymesh_rate_clock_offset_seconds: '-2+0x60' }, at: '5m' }],
  },
  RateGuardSpoke: counter('paymesh_rate_guard_total{rate="USDT",reason="depeg"}'),
  WalletPoolEmpty: counter('paymesh_address_source_exhausted_total{family="evm",mode="live"}'),
  WalletPoolLow: {
    fires: [
      {
        why: 'a pool is counted low again and again',
        series: { 'paymesh_pool_addresses_low_total{family="evm",mode="live"}': '1+1x120' },
        at: '20m',
      },
    ],
    silent: [
      {
        why: 'it was filled up',
        series: { 'paymesh_pool_addresses_low_total{family="evm",mode="live"}': '4+0x500' },
        at: '70m',
      },
    ],
  },
  InvoicesBehind: queueAge('invoice-transitions', 40, 2, '2m', '50s'),
  DeadlinesOverdue: gauge('paymesh_invoice_deadline_oldest_age_seconds{chain="none"}', 900, 30, '6m', '4m'),
  ReconciliationFailed: {
    interval: '5m',
    fires: [
      { why: 'a violation is found', series: { [violations('sums')]: '0+0x20 1+0x30' }, at: '2h' },
      { why: 'a new process finds one at once', series: { [violations('sums')]: '_x20 1+0x30' }, at: '2h' },
      {
        why: 'it stays wrong, hour by hour',
        series: { [violations('events')]: '1+0x11 2+0x11 3+0x11 4+0x11 5+0x11 6+0x11' },
        at: '5h50m',
      },
      {
        why: 'one of several processes finds it',
        series: {
          [violations('status', 'a')]: '0+0x60',
          [violations('status', 'b')]: '0+0x30 2+0x30',
        },
        at: '3h',
      },
    ],
    silent: [
      { why: 'all agree', series: { [violations('sums')]: '0+0x80' }, at: '6h' },
      { why: 'a process begins to look', series: { [violations('sums')]: '_x20 0+0x30' }, at: '2h' },
      { why: 'they agree again since long', series: { [violations('sums')]: '0+0x10 3+0x80' }, at: '6h' },
    ],
  },
  AuditLogBroken: {
    fires: [
      {
        why: 'one of two processes finds a changed row',
        series: {
          'paymesh_audit_log_broken{instance="a"}': '0+0x40',
          'paymesh_audit_log_broken{instance="b"}': '0+0x10 1+0x30',
        },
        at: '5m',
      },
    ],
    silent: [
      { why: 'all rows fit', series: { 'paymesh_audit_log_broken{instance="a"}': '0+0x80' }, at: '10m' },
      { why: 'no process has verified anything yet', series: {}, at: '10m' },
    ],
  },
  ReconciliationStale: {
    fires: [{ why: 'every round fails', series: { paymesh_reconciliation_failed_total: '0+1x120' }, at: '30m' }],
    silent: [
      {
        why: 'a round failed and the next did not',
        series: { paymesh_reconciliation_failed_total: '0+0x20 1+0x60' },
        at: '40m',
      },
      {
        why: 'it works again since long',
        series: { paymesh_reconciliation_failed_total: '0+1x30 30+0x120' },
        at: '140m',
      },
    ],
  },
  ExceptionsWait: {
    interval: '4m',
    fires: [{ why: 'stay open', series: { 'paymesh_exceptions_open{kind="late"}': '2+0x400' }, at: '25h' }],
    silent: [
      { why: 'are closed', series: { 'paymesh_exceptions_open{kind="late"}': '2+0x100 0+0x300' }, at: '25h' },
      { why: 'are of today', series: { 'paymesh_exceptions_open{kind="late"}': '2+0x400' }, at: '12h' },
    ],
  },
}
