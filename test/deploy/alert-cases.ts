/** Series by selector in promtool's notation (`1+0x30` = thirty-one ones, `0+1x30` = counting up, `_x9` = nothing nine times). */
type Series = Readonly<Record<string, string>>

/** When an alert fires and when it must not; each list has at least one story. */
export interface AlertCase {
  /** Time between values. Default 10 s. */
  readonly interval?: string
  readonly fires: readonly { readonly why: string; readonly series: Series; readonly at: string }[]
  readonly silent: readonly { readonly why: string; readonly series: Series; readonly at: string }[]
}

const CHAIN = '{mode="live",network="ethereum"}'

/** A gauge that stays at `bad` must alert at `at`, and must not when it stays at `good` or is bad too briefly. */
function gauge(selector: string, bad: number, good: number, at: string, before: string): AlertCase {
  return {
    fires: [{ why: `stays at ${bad}`, series: { [selector]: `${bad}+0x400` }, at }],
    silent: [
      { why: `stays at ${good}`, series: { [selector]: `${good}+0x400` }, at },
      { why: 'has not lasted yet', series: { [selector]: `${bad}+0x400` }, at: before },
    ],
  }
}

/** A counter that rises, or is born at 1, must alert; one that stands must not. */
function counter(selector: string, { born = true }: { readonly born?: boolean } = {}): AlertCase {
  return {
    fires: [
      { why: 'rises', series: { [selector]: '0+0x120 1+1x20' }, at: '22m' },
      ...(born ? [{ why: 'is born at 1', series: { [selector]: '_x120 1+0x20' }, at: '21m' }] : []),
    ],
    silent: [{ why: 'stands since long', series: { [selector]: '3+0x500' }, at: '80m' }],
  }
}

const queueAge = (queue: string, bad: number, good: number, at: string, before: string) =>
  gauge(`paymesh_queue_oldest_due_age_seconds{queue="${queue}"}`, bad, good, at, before)

const requests = (status: string) => `paymesh_http_request_seconds_count{operation="POST /invoices",status="${status}"}`

/** Every alert of `deploy/prometheus/alerts.yml`. */
export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
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
  OutboxBehind: queueAge('outbox', 40, 2, '2m', '50s'),
  OutboxBlocked: counter('paymesh_outbox_blocked_total', { born: false }),
  WebhooksBehind: queueAge('webhooks', 90, 5, '3m', '110s'),
  WebhooksSlow: {
    fires: [
      {
        why: 'first attempts take ten seconds',
        series: {
          'paymesh_webhook_first_attempt_seconds_bucket{le="5"}': '0+0x200',
          'paymesh_webhook_first_attempt_seconds_bucket{le="10"}': '0+5x200',
          'paymesh_webhook_first_attempt_seconds_bucket{le="+Inf"}': '0+5x200',
        },
        at: '20m',
      },
    ],
    silent: [
      {
        why: 'first attempts take milliseconds',
        series: {
          'paymesh_webhook_first_attempt_seconds_bucket{le="0.05"}': '0+5x200',
          'paymesh_webhook_first_attempt_seconds_bucket{le="5"}': '0+5x200',
          'paymesh_webhook_first_attempt_seconds_bucket{le="+Inf"}': '0+5x200',
        },
        at: '20m',
      },
    ],
  },
  WebhooksFail: {
    fires: [
      {
        why: 'three of four fail',
        series: {
          'paymesh_webhook_attempts_total{result="retry"}': '0+3x300',
          'paymesh_webhook_attempts_total{result="succeeded"}': '0+1x300',
        },
        at: '30m',
      },
    ],
    silent: [
      {
        why: 'one of ten fails',
        series: {
          'paymesh_webhook_attempts_total{result="retry"}': '0+1x300',
          'paymesh_webhook_attempts_total{result="succeeded"}': '0+9x300',
        },
        at: '30m',
      },
      {
        why: 'a lone receiver fails now and then',
        series: { 'paymesh_webhook_attempts_total{result="retry"}': '0+0x90 1+0x90 2+0x90' },
        at: '40m',
      },
    ],
  },
  WebhooksUnpreparable: counter('paymesh_webhook_unpreparable_total', { born: false }),
  MailBehind: queueAge('mail', 2_000, 60, '6m', '4m'),
  MailFails: {
    ...counter('paymesh_mails_total{result="failed",fault="rejected"}'),
    silent: [
      { why: 'mails are sent', series: { 'paymesh_mails_total{result="sent",fault="none"}': '0+1x200' }, at: '30m' },
    ],
  },
  MailServerMissing: gauge('paymesh_mail_server_configured', 0, 1, '12m', '9m'),
  AuditChainStands: {
    fires: [{ why: 'each round fails', series: { paymesh_audit_chain_failed_total: '0+1x100' }, at: '15m' }],
    silent: [{ why: 'one round failed', series: { paymesh_audit_chain_failed_total: '0+0x50 1+0x50' }, at: '15m' }],
  },
  ErrorsBurnFast: {
    interval: '1m',
    fires: [
      { why: 'one of ten fails', series: { [requests('201')]: '0+90x120', [requests('500')]: '0+10x120' }, at: '90m' },
    ],
    silent: [
      {
        why: 'one of a thousand fails',
        series: { [requests('201')]: '0+999x120', [requests('500')]: '0+1x120' },
        at: '90m',
      },
      {
        why: 'it is over',
        series: { [requests('201')]: '0+90x240', [requests('500')]: '0+10x80 800+0x160' },
        at: '95m',
      },
      {
        why: 'callers make mistakes',
        series: { [requests('201')]: '0+10x120', [requests('400')]: '0+90x120' },
        at: '90m',
      },
    ],
  },
  ErrorsBurnSlowly: {
    interval: '5m',
    fires: [
      {
        why: 'one of a hundred fails',
        series: { [requests('200')]: '0+99x100', [requests('503')]: '0+1x100' },
        at: '7h',
      },
    ],
    silent: [
      {
        why: 'one of a thousand fails',
        series: { [requests('200')]: '0+999x100', [requests('503')]: '0+1x100' },
        at: '7h',
      },
    ],
  },
  RequestsSlow: {
    fires: [
      {
        why: 'every request takes more than a second',
        series: {
          'paymesh_http_request_seconds_bucket{operation="GET /invoices",le="1"}': '0+0x200',
          'paymesh_http_request_seconds_bucket{operation="GET /invoices",le="2.5"}': '0+5x200',
          'paymesh_http_request_seconds_bucket{operation="GET /invoices",le="+Inf"}': '0+5x200',
          'paymesh_http_request_seconds_count{operation="GET /invoices",status="200"}': '0+5x200',
        },
        at: '20m',
      },
    ],
    silent: [
      {
        why: 'there is a request a minute',
        series: {
          'paymesh_http_request_seconds_bucket{operation="GET /invoices",le="1"}': '0+0x200',
          'paymesh_http_request_seconds_bucket{operation="GET /invoices",le="+Inf"}': '0+0x5 1+0x5 2+0x5 3+0x200',
          'paymesh_http_request_seconds_count{operation="GET /invoices",status="200"}': '0+0x5 1+0x5 2+0x5 3+0x200',
        },
        at: '20m',
      },
    ],
  },
  EdgeSilent: {
    interval: '5m',
    fires: [{ why: 'requests end at once', series: { [requests('201')]: '0+100x100 10000+0x20' }, at: '9h' }],
    silent: [
      { why: 'requests go on', series: { [requests('201')]: '0+100x120' }, at: '9h' },
      { why: 'there never were many', series: { [requests('201')]: '0+1x100 100+0x20' }, at: '9h' },
    ],
  },
  MongoLost: gauge('paymesh_store_up{store="mongo",instance="a:4110"}', 0, 1, '1m', '20s'),
  RedisLost: gauge('paymesh_store_up{store="redis",instance="a:4110"}', 0, 1, '2m', '50s'),
  RedisReplaced: counter('paymesh_redis_epoch_changes_total', { born: false }),
  KicksGetLost: {
    fires: [
      { why: 'sweeps find much', series: { 'paymesh_sweeper_rescued_total{queue="outbox"}': '0+50x200' }, at: '20m' },
    ],
    silent: [
      {
        why: 'sweeps find a little',
        series: { 'paymesh_sweeper_rescued_total{queue="outbox"}': '0+1x200' },
        at: '20m',
      },
    ],
  },
  JobsFail: {
    fires: [{ why: 'jobs fail', series: { 'paymesh_jobs_failed_total{queue="webhooks"}': '0+5x200' }, at: '20m' }],
    silent: [
      {
        why: 'a job failed once',
        series: { 'paymesh_jobs_failed_total{queue="webhooks"}': '0+0x60 1+0x140' },
        at: '20m',
      },
    ],
  },
  WorkersReplaced: {
    fires: [{ why: 'again and again', series: { 'paymesh_workers_replaced_total{queue="mail"}': '0+1x30' }, at: '5m' }],
    silent: [{ why: 'once', series: { 'paymesh_workers_replaced_total{queue="mail"}': '0+0x10 1+0x20' }, at: '5m' }],
  },
  LocksLost: {
    fires: [
      { why: 'locks are lost', series: { 'paymesh_job_lock_lost_total{queue="outbox"}': '0+1x60' }, at: '10m' },
      { why: 'jobs stall', series: { 'paymesh_jobs_stalled_total{queue="outbox"}': '0+1x60' }, at: '10m' },
    ],
    silent: [
      {
        why: 'a process was killed',
        series: { 'paymesh_jobs_stalled_total{queue="outbox"}': '0+0x20 8+0x40' },
        at: '10m',
      },
    ],
  },
  LeasesLost: {
    fires: [
      { why: 'it changes hands', series: { 'paymesh_lease_lost_total{lease="scan:live:tron"}': '0+1x60' }, at: '10m' },
      {
        why: 'the store does not answer renewals',
        series: { 'paymesh_lease_renewal_failed_total{lease="scan:live:tron"}': '0+1x60' },
        at: '10m',
      },
    ],
    silent: [
      { why: 'once', series: { 'paymesh_lease_lost_total{lease="scan:live:tron"}': '0+0x30 1+0x30' }, at: '10m' },
    ],
  },
  ClockJumped: {
    fires: [
      { why: 'is behind', series: { 'paymesh_clock_drift_seconds{instance="a:4110"}': '-7+0x60' }, at: '4m' },
      { why: 'is ahead', series: { 'paymesh_clock_drift_seconds{instance="a:4110"}': '5+0x60' }, at: '4m' },
    ],
    silent: [{ why: 'is right', series: { 'paymesh_clock_drift_seconds{instance="a:4110"}': '-0.02+0x60' }, at: '4m' }],
  },
  EventLoopLags: gauge('nodejs_eventloop_lag_p99_seconds{instance="a:4110"}', 0.8, 0.01, '6m', '4m'),
  ProcessDown: gauge('up{job="paymesh",process="api",instance="a:4110"}', 0, 1, '3m', '110s'),
  FiguresMissing: {
    fires: [
      { why: 'nobody ever tells', series: { 'up{job="paymesh"}': '1+0x60' }, at: '4m' },
      {
        why: 'they end',
        series: { 'paymesh_queue_oldest_due_age_seconds{queue="webhooks"}': '0+0x30 stale _x60' },
        at: '12m',
      },
    ],
    silent: [
      {
        why: 'they are there',
        series: { 'paymesh_queue_oldest_due_age_seconds{queue="webhooks"}': '0+0x60' },
        at: '9m',
      },
    ],
  },
}
