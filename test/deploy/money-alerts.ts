import { type AlertCase, counter, gauge, queueAge } from './alert-case.ts'

const CHAIN = '{mode="live",network="ethereum"}'

/** Alerts about chains, rates, wallets and invoices. */
export const MONEY_ALERTS: Readonly<Record<string, AlertCase>> = {
  ChainHalted: gauge(`paymesh_chain_halted${CHAIN}`, 1, 0, '2m', '50s'),
  ChainLagging: gauge(`paymesh_chain_lagging${CHAIN}`, 1, 0, '3m', '110s'),
  ChainNeverScanned: gauge(`paymesh_chain_scanned${CHAIN}`, 0, 1, '12m', '9m'),
  ChainNodesDisagree: gauge(`paymesh_chain_waiting${CHAIN}`, 1, 0, '6m', '4m'),
  NodeLies: counter('paymesh_scanner_node_outvoted_total{mode="live",network="bitcoin",provider="a.example"}'),
  NodeOnOtherChain: gauge(
    'paymesh_scanner_node_excluded{mode="live",network="ethereum",provider="a.example"}',
    1,
    0,
    '3m',
    '1m',
  ),
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
  PaymentsDoubted: counter('paymesh_scanner_doubted_total{network="tron"}'),
  RatesStale: gauge('paymesh_rate_snapshot_age_seconds', 200, 20, '2m', '50s'),
  RateMissing: gauge('paymesh_rate_available{rate="BTC"}', 0, 1, '6m', '4m'),
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
  ExceptionsWait: {
    interval: '4m',
    fires: [{ why: 'stay open', series: { 'paymesh_exceptions_open{kind="late"}': '2+0x400' }, at: '25h' }],
    silent: [
      { why: 'are closed', series: { 'paymesh_exceptions_open{kind="late"}': '2+0x100 0+0x300' }, at: '25h' },
      { why: 'are of today', series: { 'paymesh_exceptions_open{kind="late"}': '2+0x400' }, at: '12h' },
    ],
  },
}
