/** One metric. Its exposed name is the key with the prefix `paymesh_`; label values are bounded sets, never ids. */
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

/** Incoming requests. */
const EDGE = {
  http_request_seconds: seconds('Requests by route template and status', 'operation', 'status'),
  admin_procedure_seconds: seconds('Calls of the dashboard API by procedure and outcome', 'procedure', 'outcome'),
  checkout_watched_invoices: gauge('Invoices whose live status is watched through this process'),
  checkout_live_waiting_views: gauge('Watched invoices that changed and are shown in a later turn of the live status'),
  checkout_live_failed_total: counter('Failed reads of the store for live status'),
  logins_total: counter('Logins to the dashboard', 'result'),
  idempotency_replays_total: counter('Responses repeated for the same idempotency key', 'operation'),
  rate_limit_local_total: counter('Requests counted by this process alone because Redis was unavailable'),
} as const

/** Collected by one process from the store for the whole installation, so that it is right whichever processes are down. */
const INSTALLATION = {
  queue_depth: gauge('Rows waiting in a queue, due or not; counted up to 10,000', 'queue'),
  queue_oldest_due_age_seconds: gauge(
    'Time since the oldest row of a queue was due that a free place could serve; 0 when none is',
    'queue',
  ),
  webhook_endpoints_due: gauge(
    'Endpoints with due deliveries: `free` ones wait for a place, `slow` and `failing` ones have as much in flight as they take',
    'state',
  ),
  webhook_endpoints_oldest_due_age_seconds: gauge(
    'Time since their oldest delivery was due, by the same states; 0 when none is',
    'state',
  ),
  invoice_deadline_oldest_age_seconds: gauge('Time since the oldest unprocessed deadline was reached', 'chain'),
  exceptions_open: gauge('Open exceptions; counted up to 10,000', 'kind'),
  chain_scanned: gauge('1 = a scanner has scanned this network, 0 = none ever has', 'mode', 'network'),
  chain_halted: gauge('1 = the scanner of this network is halted', 'mode', 'network'),
  chain_lagging: gauge('1 = too far behind its chain for new invoices', 'mode', 'network'),
  chain_fact_row: gauge(
    'What the row of a network states: block_time and finality in seconds, reorganisation in blocks',
    'mode',
    'network',
    'fact',
  ),
  chain_fact_measured: gauge('The same as its scanner measured it', 'mode', 'network', 'fact'),
  chain_fact_off: gauge('1 = the two are more than 30 % apart', 'mode', 'network', 'fact'),
  chain_waiting: gauge('1 = the scanner waits for nodes to agree or to respond', 'mode', 'network'),
  chain_stuck: gauge(
    '1 = the scanner of this network does not advance: deadlines of its invoices wait; with the cause, if known',
    'mode',
    'network',
    'cause',
    'block',
    'method',
  ),
  marks_written_at_seconds: gauge('When what was issued was last recorded outside the store, Unix time', 'place'),
  marks_unsigned_total: counter('Records of what was issued that no key of the installation signed; removed', 'place'),
  store_went_back_total: counter('Times that the store, or a key in it, said less than had been issued'),
  stuck_reports_failed_total: counter('Rounds in which the exceptions of stuck networks could not be updated'),
  chain_lag_blocks: gauge('Blocks between the last scanned and the newest known one', 'mode', 'network'),
  backup_verified_age_seconds: gauge(
    'Age of the newest verified back-up, or of its last copy elsewhere if that is older; infinite without one',
  ),
  backup_changes_age_seconds: gauge(
    'Age of the newest changes that were copied between back-ups, or of their last copy elsewhere; none where they never were',
  ),
  store_members: gauge('Members of MongoDB’s replica set: state="configured" and state="healthy"', 'state'),
  store_replication_lag_seconds: gauge('How far the slowest healthy member of MongoDB is behind the primary'),
  store_oplog_seconds: gauge('Time that the oplog of the primary reaches back'),
  store_oplog_truncations: gauge('Times that the oplog was cut since the primary started; 0 = it holds all since then'),
  store_disk_used_bytes: gauge('Used bytes of the file system with the primary’s data'),
  store_disk_size_bytes: gauge('Size of the file system with the primary’s data'),
  store_rights_missing: gauge('1 = the database user lacks clusterMonitor, so members and oplog are not measured'),
  chain_head_age_seconds: gauge('Seconds since any node of this network last responded', 'mode', 'network'),
  retention_deleted_total: counter('Documents that the retention job removed because they expired', 'collection'),
  retention_failed_total: counter('Failed rounds of the retention job'),
  watch_packs_failed_total: counter('Failed rounds of the job that packs watched addresses'),
  watches_packed_total: counter('Watched addresses that moved into packs'),
  retention_overdue_seconds: gauge(
    'Time since the oldest document of a collection expired; 0 when none has',
    'collection',
  ),
  invariant_violation_total: counter(
    'Inconsistent records of invoices, counted each hour until they are fixed',
    'invariant',
  ),
  reconciliation_checked_total: counter('Invoices whose records were checked'),
  invoice_counts_repaired_total: counter('Stored counts of a month’s invoices that the hourly comparison corrected'),
  invoice_counts_failed_total: counter('Failed rounds of that comparison'),
  rollups_counted_total: counter('Hours and quarters whose figures for the front page were counted again'),
  rollups_failed_total: counter('Failed rounds of that count'),
  reconciliation_failed_total: counter('Failed rounds of reconciliation'),
  node_calls: gauge('Calls to a provider of nodes, today or this month (UTC)', 'mode', 'network', 'provider', 'period'),
  node_units: gauge(
    'What they cost by the provider’s list: today, this month, or estimated for the whole month (UTC)',
    'mode',
    'network',
    'provider',
    'unit',
    'period',
  ),
  node_quota_used_ratio: gauge(
    'Share of the month’s quota of a network that is used; 1 is all of it',
    'mode',
    'network',
    'unit',
  ),
  rate_snapshot_age_seconds: gauge('Age of the newest published rates; rates older than 120 s are not used'),
  backlog_collections_total: counter('Rounds in which this process collected for the installation', 'result'),
} as const

/** Invoices, addresses and payments. */
const MONEY = {
  invoice_transitions_total: counter('Changes of an invoice’s status', 'from', 'to'),
  invoice_version_conflicts_total: counter('Invoice updates retried after a version conflict', 'event'),
  invoice_insert_conflict_total: counter('New invoices that hit a unique index and were tried again', 'index'),
  invoice_outbox_full_total: counter('Changes that wait because an invoice’s outbox is full', 'event'),
  invoice_blocked_total: counter('Invoices that could not be updated ten times in a row: an operator must investigate'),
  address_conflicts_total: counter('Addresses or amounts that another invoice took first', 'during'),
  offer_displaced_total: counter(
    'Addresses not shown because another workspace proved control of them',
    'family',
    'kind',
  ),
  claims_released_total: counter('Addresses and amounts released after their quarantine'),
  address_derivation_failed_total: counter('Keys from which no address could be derived', 'family'),
  address_headroom_failed_total: counter('Failed rounds of the loop that derives addresses ahead'),
  address_indexes_returned_total: counter('Derived addresses that were not used and can be issued again'),
  address_source_exhausted_total: counter('Invoices that found no free address', 'family', 'mode'),
  visitor_budget_spent_total: counter(
    'Payers who got no address because visitors used up their share of addresses (claim) or open invoices (watch)',
    'of',
    'scope',
    'family',
    'mode',
  ),
  pool_addresses_low_total: counter('Counts that found at most a fifth of an address pool free', 'family', 'mode'),
  simulation_raced_total: counter('Simulated payments retried after a concurrent change of their invoice'),
  payments_recorded_total: counter('Payments stored', 'network'),
  payments_confirmed_total: counter('Payments that reached their confirmations', 'network'),
  payments_orphaned_total: counter('Payments whose block left the chain', 'network'),
  payments_ended_total: counter('Payments that were replaced or dropped', 'network'),
} as const

/** Scanners, their chains and nodes. */
const SCANNING = {
  scanner_height: gauge('Last scanned block, of the process that scans', 'mode', 'network'),
  scanner_head_height: gauge('Newest block, of the process that scans', 'mode', 'network'),
  scanner_lag_blocks: gauge('Blocks between them, of the process that scans', 'mode', 'network'),
  scanner_watches: gauge('Watched addresses in memory', 'mode', 'network'),
  scanner_cold_watches: gauge('Watched addresses in the filter of packs', 'mode', 'network'),
  scanner_watch_packs_damaged: gauge('1 while packs of watched addresses are missing or incomplete', 'mode', 'network'),
  scanner_halted: gauge('1 = this process stopped scanning the network', 'mode', 'network'),
  scanner_nodes_disputing: gauge('1 = nodes disagree about a scanned block', 'mode', 'network'),
  scanner_reorg_total: counter('Reorganisations by depth in blocks: 1, 2, 3, 4-10, 11+', 'mode', 'network', 'depth'),
  scanner_restart_total: counter('Chains that restarted, as development chains do', 'mode', 'network'),
  scanner_errors_total: counter('Scan rounds that failed', 'network', 'mode', 'kind'),
  scanner_unconfirmed_by_second_node_total: counter('Payments that a second node did not show', 'network'),
  scanner_balance_accounts: gauge('Accounts whose coin balance is read', 'mode', 'network'),
  scanner_blocks_read_alone_total: counter(
    'Blocks that could not be read whole and were read in parts',
    'network',
    'mode',
  ),
  scanner_unexplained_balances_total: counter(
    'Balances that changed by more than transfers explain',
    'mode',
    'network',
  ),
  scanner_balance_gaps_total: counter('Accounts whose earlier balance no node has any more', 'mode', 'network'),
  scanner_ranges_without_logs_total: counter(
    'Ranges in which tokens that came in and went out again would not be seen, because their logs take too many requests',
    'mode',
    'network',
  ),
  scanner_unproven_deadlines_total: counter(
    'Failed attempts to show that nothing was missed before a deadline',
    'mode',
    'network',
  ),
  scanner_look_failures_total: counter(
    'Looks at balances of addresses without an open invoice that failed',
    'mode',
    'network',
  ),
  scanner_balance_shortfalls_total: counter('Accounts that hold less than their transfers imply', 'mode', 'network'),
  scanner_internal_transfers_seen: gauge('1 = a node returns internal transfers', 'network', 'mode'),
  scanner_node_disagrees: gauge('1 = a node has another block than the others', 'network', 'mode', 'provider'),
  scanner_node_excluded: gauge('1 = a node is on another chain and is not used', 'network', 'mode', 'provider'),
  scanner_node_failures_total: counter('Failed requests to a node', 'network', 'mode', 'provider'),
  scanner_node_outdated: gauge(
    '1 = the newest or the final block of a node stands still while another node goes on',
    'network',
    'mode',
    'provider',
  ),
  scanner_node_outvoted_total: counter(
    'Times that most other nodes contradicted a node',
    'network',
    'mode',
    'provider',
  ),
  key_history_failed_total: counter('Failed searches for the earlier use of keys', 'network', 'mode'),
  key_history_loop_failed_total: counter('Failed rounds of the loop that starts these searches'),
  scanner_rpc_total: counter('Requests to a node', 'network', 'mode', 'provider', 'method', 'outcome'),
  node_calls_total: counter(
    'Calls that were sent to a provider of nodes, each call of a batch separately, by the provider’s name or its host',
    'network',
    'mode',
    'provider',
    'method',
  ),
  node_request_bytes_total: counter('Bytes of the bodies of these calls', 'network', 'mode', 'provider', 'method'),
  node_response_bytes_total: counter('Bytes of the bodies of their responses', 'network', 'mode', 'provider', 'method'),
  node_usage_failed_total: counter('Writes of the counted calls to the store that failed; they are tried again'),
  scanner_rpc_seconds: seconds('Response times of a node', 'network', 'mode', 'provider', 'method'),
} as const

const RATES = {
  rate_snapshots_total: counter('Published sets of rates'),
  rate_available: gauge('1 = the last published set has this rate', 'rate'),
  rate_age_seconds: gauge('Age of a rate’s oldest price when it was published', 'rate'),
  rate_sources: gauge('Sources behind a rate', 'rate'),
  rate_sources_expected: gauge('Sources that vote on a rate while all is well', 'rate'),
  rate_sources_min: gauge('Sources without which a rate has no price', 'rate'),
  rate_source_up: gauge('1 = a price source responds; whether it is used shows in rate_pair_used', 'source'),
  rate_pair_used: gauge('1 = this pair of a source was usable in the last round', 'source', 'pair'),
  rate_pair_dropped_total: counter(
    'Rounds in which a pair of a source had no part in prices',
    'source',
    'pair',
    'reason',
  ),
  rate_clock_offset_seconds: gauge('How far the clocks of order books are ahead of ours'),
  rate_source_errors_total: counter('Unusable responses of a price source', 'source', 'reason'),
  rate_outliers_total: counter('Prices left out because the others disagree', 'source'),
  rate_guard_total: counter('Rates held back or recorded by a guard', 'rate', 'reason'),
  rate_cross_check_total: counter('Direct markets that contradict the price of two legs', 'source', 'pair'),
  rate_cycles_failed_total: counter('Rounds that published nothing because something broke'),
  rate_cycle_seconds: seconds('One round over all sources'),
} as const

/** Events, deliveries, mails and the audit log. */
const OUTGOING = {
  outbox_events_relayed_total: counter('Events stored for delivery'),
  outbox_relay_failed_total: counter('Outboxes that could not be relayed and will be retried later'),
  outbox_blocked_total: counter('Outboxes that failed 20 times: an operator must investigate'),
  webhook_first_attempt_seconds: seconds('From the durable event to the first attempt'),
  webhook_attempt_seconds: seconds('One attempt, from its start to its response'),
  webhook_attempts_total: counter('Attempts by result', 'result'),
  webhook_in_flight: gauge('Attempts in flight', 'lane'),
  webhook_poison_total: counter('Deliveries claimed repeatedly without an outcome'),
  webhook_unpreparable_total: counter('Deliveries whose event is missing or whose secret cannot be decrypted'),
  webhook_outcomes_lost_total: counter('Outcomes that could not be written; their deliveries are sent again'),
  mails_total: counter('Mails tried', 'result', 'fault'),
  mail_poison_total: counter('Mails claimed repeatedly without an outcome'),
  mail_oldest_due_age_seconds: gauge('Oldest mail that this process found due'),
  mail_server_configured: gauge('1 = a mail server is configured'),
  audit_rows_chained_total: counter('Audit rows that were chained'),
  maintenance_failed_total: counter('Rounds in which daily mails or erasures failed'),
  audit_log_broken: gauge('1 = this process found tampering in the part of the audit log that it verified last'),
  audit_verification_failed_total: counter('Rounds in which the audit log could not be verified'),
  audit_chain_failed_total: counter('Rounds in which the audit chain could not be extended'),
} as const

/** Queues, leases, stores and the process itself. */
const PROCESS = {
  job_seconds: seconds('One job', 'queue'),
  job_wait_seconds: seconds('From a wake-up to the start of its job', 'queue'),
  jobs_failed_total: counter('Jobs that threw; the sweep repeats them', 'queue'),
  jobs_stalled_total: counter('Jobs whose lock expired and that Redis delivers again', 'queue'),
  job_lock_lost_total: counter('Locks of running jobs that could not be renewed', 'queue'),
  wakeups_dropped_total: counter('Wake-ups dropped because Redis was unavailable', 'queue'),
  queue_degraded: gauge('1 = this process works without Redis', 'queue'),
  sweeper_rescued_total: counter('Work found by a sweep because its wake-up was lost', 'queue'),
  sweeper_handled_total: counter('Work that a sweep did directly because wake-ups had no effect', 'queue'),
  sweeps_failed_total: counter('Sweeps that failed', 'queue'),
  workers_replaced_total: counter('Workers replaced because their connection stopped delivering jobs', 'queue'),
  lease_lost_total: counter('Leases that another process took while their holder still worked', 'lease'),
  lease_renewal_failed_total: counter('Lease renewals that failed in the store', 'lease'),
  redis_epoch_changes_total: counter('Redis was wiped or replaced'),
  store_up: gauge('1 = the store responds to this process', 'store'),
  redis_primary: gauge('1 = the Redis server that this process uses is a primary, 0 = a replica'),
  redis_memory_used_bytes: gauge('Memory that Redis uses'),
  redis_memory_max_bytes: gauge('Memory at which Redis refuses writes; absent where it has no limit'),
  clock_drift_seconds: gauge('Difference of this machine’s clock to the store’s; negative when it is behind'),
  spans_exported_total: counter('Spans given to the tracing collector', 'result'),
} as const

/**
 * Every metric of the product. A name that is not listed cannot be used (the `Metrics` port refuses it), and dashboards and
 * alert rules may use no others. Units are in the name: seconds, blocks, `_total` for counters.
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
