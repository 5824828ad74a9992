/** What one metric means. Its exposed name is the key with `paymesh_` before it; label values are bounded sets, never ids. */
export interface MetricDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
}

const counter = <L extends string>(help: string, ...labels: readonly L[]) =>
  ({ kind: 'counter', help, labels }) as const satisfies MetricDefinition
const gauge = <L extends string>(help: string, ...labels: readonly L[]) =>
  ({ kind: 'gauge', help, labels }) as const satisfies MetricDefinition
const seconds = <L extends string>(help: string, ...labels: readonly L[]) =>
  ({ kind: 'histogram', help, labels }) as const satisfies MetricDefinition

/** Requests that come in. */
const EDGE = {
  http_request_seconds: seconds('Requests by route template and status', 'operation', 'status'),
  admin_procedure_seconds: seconds(
    'Calls of the operators’ interface by procedure and outcome',
    'procedure',
    'outcome',
  ),
  checkout_watched_invoices: gauge('Invoices whose live status somebody looks at on this process'),
  checkout_live_failed_total: counter('Looks at the store for live status that failed'),
  log_ins_total: counter('Log-ins of operators', 'result'),
  idempotency_replays_total: counter('Answers given a second time for the same idempotency key', 'operation'),
  rate_limit_local_total: counter('Requests counted by this process alone because Redis was away'),
} as const

/** What one process collects from the store for the whole installation, so that it is right whoever is down. */
const INSTALLATION = {
  queue_depth: gauge('Rows that wait in a queue, due or not; counted up to 10,000', 'queue'),
  queue_oldest_due_age_seconds: gauge('How long the oldest row of a queue has been due; 0 when none is', 'queue'),
  invoice_deadline_oldest_age_seconds: gauge('How long the oldest reached deadline waits to be acted on', 'chain'),
  exceptions_open: gauge('Open entries of the exception inbox; counted up to 10,000', 'kind'),
  chain_scanned: gauge('1 = a scanner has looked at this network, 0 = none ever has', 'mode', 'network'),
  chain_halted: gauge('1 = the scanner of this network stopped itself', 'mode', 'network'),
  chain_lagging: gauge('1 = too far behind its chain for new invoices', 'mode', 'network'),
  chain_waiting: gauge('1 = the scanner waits for nodes that agree or answer', 'mode', 'network'),
  chain_stuck: gauge(
    '1 = the scanner of this network does not advance: deadlines of its invoices wait; why, where that is known',
    'mode',
    'network',
    'cause',
    'block',
    'method',
  ),
  stuck_reports_failed_total: counter('Rounds in which the inbox rows of stuck networks could not be kept'),
  chain_lag_blocks: gauge('Blocks between the last scanned and the newest known', 'mode', 'network'),
  chain_head_age_seconds: gauge('Since a node of this network last answered', 'mode', 'network'),
  retention_deleted_total: counter('Documents that the retention job removed at the end of their life', 'collection'),
  retention_failed_total: counter('Failed rounds of the retention job'),
  retention_overdue_seconds: gauge(
    'How far the oldest document of a collection is past its life; 0 when none is',
    'collection',
  ),
  invariant_violation_total: counter('Wrong books of invoices, counted each hour while they are wrong', 'invariant'),
  books_judged_total: counter('Invoices whose books were judged'),
  books_failed_total: counter('Rounds in which the books could not be judged'),
  rate_snapshot_age_seconds: gauge('Age of the newest published rates; older than 120 s prices nothing'),
  backlog_collections_total: counter('Rounds in which this process collected for the installation', 'result'),
} as const

/** Invoices, addresses and payments. */
const MONEY = {
  invoice_transitions_total: counter('Changes of an invoice’s status', 'from', 'to'),
  invoice_cas_lost_total: counter('Changes of an invoice that another process was faster with', 'event'),
  invoice_insert_conflict_total: counter('New invoices that hit a unique index and were tried again', 'index'),
  invoice_outbox_full_total: counter('Changes that wait because an invoice’s outbox is full', 'event'),
  claim_taken_total: counter('Addresses or amounts that another invoice took first', 'during'),
  offer_displaced_total: counter(
    'Addresses not shown because another workspace proved control of them',
    'family',
    'kind',
  ),
  claims_released_total: counter('Addresses and amounts given back after their rest'),
  address_derivation_failed_total: counter('Keys from which no address could be derived', 'family'),
  address_headroom_failed_total: counter('Failed rounds of the loop that derives addresses ahead'),
  address_indexes_returned_total: counter('Derived addresses that nobody used and that can be issued again'),
  address_source_exhausted_total: counter('Invoices that found no free address', 'family', 'mode'),
  visitor_budget_spent_total: counter(
    'Payers who got no address because visitors held their share',
    'scope',
    'family',
    'mode',
  ),
  pool_addresses_low_total: counter('Counts that found at most a fifth of an address pool free', 'family', 'mode'),
  simulation_raced_total: counter('Simulated payments that met a change of their invoice'),
  payments_recorded_total: counter('Payments stored', 'network'),
  payments_confirmed_total: counter('Payments that reached their confirmations', 'network'),
  payments_orphaned_total: counter('Payments whose block left the chain', 'network'),
  payments_ended_total: counter('Payments that were replaced or dropped', 'network'),
} as const

/** What scanners know of their chains and nodes. */
const SCANNING = {
  scanner_height: gauge('Last scanned block, of the process that scans', 'mode', 'network'),
  scanner_head_height: gauge('Newest block, of the process that scans', 'mode', 'network'),
  scanner_lag_blocks: gauge('Blocks between them, of the process that scans', 'mode', 'network'),
  scanner_watches: gauge('Watched addresses in memory', 'mode', 'network'),
  scanner_halted: gauge('1 = this process stopped scanning the network', 'mode', 'network'),
  scanner_nodes_disputing: gauge('1 = nodes do not agree about a block of ours', 'mode', 'network'),
  scanner_reorg_total: counter('Reorganisations by depth in blocks: 1, 2, 3, 4-10, 11+', 'mode', 'network', 'depth'),
  scanner_restart_total: counter('A chain that began anew, as development chains do', 'mode', 'network'),
  scanner_errors_total: counter('Scan rounds that failed', 'network', 'mode', 'kind'),
  scanner_doubted_total: counter('Payments that a second node did not show', 'network'),
  scanner_balance_accounts: gauge('Accounts whose coin balance is read', 'mode', 'network'),
  scanner_blocks_read_alone_total: counter(
    'Blocks that could not be read as usual and were read in parts',
    'network',
    'mode',
  ),
  scanner_unexplained_balances_total: counter('Balances that moved by more than transfers explain', 'mode', 'network'),
  scanner_balance_gaps_total: counter('Accounts whose former balance no node has any more', 'mode', 'network'),
  scanner_balance_shortfalls_total: counter('Accounts that hold less than their transfers say', 'mode', 'network'),
  scanner_internal_transfers_seen: gauge('1 = a node shows coins that move inside of calls', 'network', 'mode'),
  scanner_node_disagrees: gauge('1 = a node has another block than the others', 'network', 'mode', 'provider'),
  scanner_node_excluded: gauge('1 = a node is on another chain and is not used', 'network', 'mode', 'provider'),
  scanner_node_failures_total: counter('Questions that a node failed', 'network', 'mode', 'provider'),
  scanner_node_outvoted_total: counter('A node that most others contradicted', 'network', 'mode', 'provider'),
  key_history_failed_total: counter('Looks at the earlier use of keys that a node failed', 'network', 'mode'),
  key_history_loop_failed_total: counter('Failed rounds of the loop that starts these looks'),
  scanner_rpc_total: counter('Questions to a node', 'network', 'mode', 'provider', 'method', 'outcome'),
  scanner_rpc_seconds: seconds('Answers of a node', 'network', 'mode', 'provider', 'method'),
} as const

const RATES = {
  rate_snapshots_total: counter('Published sets of rates'),
  rate_available: gauge('1 = the last published set has this rate', 'rate'),
  rate_age_seconds: gauge('Age of a rate’s oldest price when it was published', 'rate'),
  rate_sources: gauge('Sources behind a rate', 'rate'),
  rate_source_up: gauge('1 = a price source answers', 'source'),
  rate_source_errors_total: counter('Answers of a price source that could not be used', 'source', 'reason'),
  rate_unknown_pairs_total: counter('Pairs that a price source no longer knows', 'source'),
  rate_outliers_total: counter('Prices left out because the others disagree', 'source'),
  rate_guard_total: counter('Rates held back or noted by a guard', 'rate', 'reason'),
  rate_cross_check_total: counter('Direct markets that contradict the price of two legs', 'source', 'pair'),
  rate_cycles_failed_total: counter('Rounds that published nothing because something broke'),
  rate_cycle_seconds: seconds('One round over all sources'),
} as const

/** Events, deliveries, mails and the audit trail. */
const OUTGOING = {
  outbox_events_relayed_total: counter('Events made durable'),
  outbox_relay_failed_total: counter('Outboxes that could not be carried out and were set aside'),
  outbox_blocked_total: counter('Outboxes that failed 20 times: a person must look'),
  webhook_first_attempt_seconds: seconds('From the durable event to the first attempt'),
  webhook_attempt_seconds: seconds('One attempt, from its start to its answer'),
  webhook_attempts_total: counter('Attempts by result', 'result'),
  webhook_in_flight: gauge('Attempts under way', 'lane'),
  webhook_poison_total: counter('Deliveries claimed again and again without an outcome'),
  webhook_unpreparable_total: counter('Deliveries without their event or without a secret that opens'),
  webhook_outcomes_lost_total: counter('Outcomes that could not be written; their deliveries are sent again'),
  log_ins_total: counter('Log-ins to the dashboard', 'result'),
  mails_total: counter('Mails tried', 'result', 'fault'),
  mail_poison_total: counter('Mails claimed again and again without an outcome'),
  mail_oldest_due_age_seconds: gauge('Oldest mail that this process found due'),
  mail_server_configured: gauge('1 = mails can leave'),
  audit_rows_chained_total: counter('Rows of the audit trail that got their place in the chain'),
  operators_desk_failed_total: counter('Rounds in which daily mails or erasures failed'),
  audit_chain_failed_total: counter('Rounds in which the audit chain could not be extended'),
} as const

/** Queues, leases, stores and the process itself. */
const PROCESS = {
  job_seconds: seconds('One job', 'queue'),
  job_wait_seconds: seconds('From a kick to the start of its job', 'queue'),
  jobs_failed_total: counter('Jobs that threw; the sweep repeats them', 'queue'),
  jobs_stalled_total: counter('Jobs whose lock ran out and that Redis hands out again', 'queue'),
  job_lock_lost_total: counter('Locks of running jobs that could not be prolonged', 'queue'),
  kicks_dropped_total: counter('Kicks dropped because Redis was away', 'queue'),
  queue_degraded: gauge('1 = this process works from the store alone', 'queue'),
  sweeper_rescued_total: counter('Work that nobody was woken up for', 'queue'),
  sweeper_handled_total: counter('Work that a sweep did itself because kicks did not help', 'queue'),
  sweeps_failed_total: counter('Sweeps that broke', 'queue'),
  workers_replaced_total: counter('Queue connections that died without a word', 'queue'),
  lease_lost_total: counter('Leases that another process took while their holder still worked', 'lease'),
  lease_renewal_failed_total: counter('Renewals of a lease that the store did not answer', 'lease'),
  redis_epoch_changes_total: counter('Redis was wiped or exchanged'),
  store_up: gauge('1 = the store answers this process', 'store'),
  clock_drift_seconds: gauge('How far this machine’s clock is ahead of the store’s; negative when it is behind'),
  spans_exported_total: counter('Spans given to the tracing collector', 'result'),
} as const

/**
 * Every metric of the product. A name that is not here cannot be used (the `Metrics` port refuses it), and dashboards and
 * alert rules may name nothing else. Units are in the name: seconds, blocks, `_total` for counters.
 */
export const METRICS = {
  ...EDGE,
  ...INSTALLATION,
  ...MONEY,
  ...SCANNING,
  ...RATES,
  ...OUTGOING,
  ...PROCESS,
} as const satisfies Record<string, MetricDefinition>

type NameOf<K extends MetricDefinition['kind']> = {
  [N in keyof typeof METRICS]: (typeof METRICS)[N]['kind'] extends K ? N : never
}[keyof typeof METRICS]

export type CounterName = NameOf<'counter'>
export type GaugeName = NameOf<'gauge'>
export type HistogramName = NameOf<'histogram'>
