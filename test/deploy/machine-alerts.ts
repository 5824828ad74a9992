import { type AlertCase, counter, gauge } from './alert-case.ts'
import { imageCommands } from './deploy-files.ts'

const PROCESSES = [...imageCommands().keys()]
const up = (name: string) => `up{job="paymesh",process="${name}",instance="a:4110"}`
const running = (names: readonly string[]) => Object.fromEntries(names.map((name) => [up(name), '1+0x60']))
const members = (configured: string, healthy: string) => ({
  'paymesh_store_members{state="configured"}': configured,
  'paymesh_store_members{state="healthy"}': healthy,
})
const oplog = (seconds: string, truncations: string) => ({
  paymesh_store_oplog_seconds: seconds,
  paymesh_store_oplog_truncations: truncations,
})
const disk = (used: string) => ({
  paymesh_store_disk_used_bytes: `${used}+0x60`,
  paymesh_store_disk_size_bytes: '100+0x60',
})
const redisMemory = (used: string) => ({
  paymesh_redis_memory_used_bytes: `${used}+0x60`,
  paymesh_redis_memory_max_bytes: '100+0x60',
})

/** Alerts about stores, queues and processes. */
export const MACHINE_ALERTS: Readonly<Record<string, AlertCase>> = {
  MongoLost: gauge('paymesh_store_up{store="mongo",instance="a:4110"}', 0, 1, '1m', '20s'),
  MongoMemberDown: {
    fires: [{ why: 'one of three is gone', series: members('3+0x60', '3+0x20 2+0x40'), at: '6m' }],
    silent: [
      { why: 'all are healthy', series: members('3+0x60', '3+0x60'), at: '6m' },
      { why: 'an installation has one member', series: members('1+0x60', '1+0x60'), at: '6m' },
      { why: 'the database user may not read them', series: { paymesh_store_rights_missing: '1+0x60' }, at: '6m' },
    ],
  },
  MongoLags: gauge('paymesh_store_replication_lag_seconds', 61, 2, '6m', '4m'),
  OplogShort: {
    fires: [{ why: 'it is cut at two hours', series: oplog('7200+0x100', '3+0x100'), at: '12m' }],
    silent: [
      { why: 'it reaches back two days', series: oplog('172800+0x100', '3+0x100'), at: '12m' },
      { why: 'the server is young, and nothing was cut', series: oplog('7200+10x100', '0+0x100'), at: '12m' },
    ],
  },
  DiskFilling: {
    fires: [{ why: 'little is left', series: disk('90'), at: '6m' }],
    silent: [
      { why: 'much is left', series: disk('60'), at: '6m' },
      { why: 'DiskFull says it', series: disk('97'), at: '6m' },
    ],
  },
  DiskFull: {
    fires: [{ why: 'next to nothing is left', series: disk('97'), at: '3m' }],
    silent: [{ why: 'little is left', series: disk('90'), at: '6m' }],
  },
  RedisLost: gauge('paymesh_store_up{store="redis",instance="a:4110"}', 0, 1, '2m', '50s'),
  RedisFilling: {
    fires: [{ why: 'it is nearly full', series: redisMemory('95'), at: '6m' }],
    silent: [
      { why: 'it has space', series: redisMemory('10'), at: '6m' },
      { why: 'it has no limit', series: { paymesh_redis_memory_used_bytes: '95+0x60' }, at: '6m' },
    ],
  },
  RedisReplaced: counter('paymesh_redis_epoch_changes_total'),
  WakeUpsDropped: {
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
  ProcessMissing: {
    fires: [
      { why: 'none was ever there', series: running(PROCESSES.filter((name) => name !== 'rates')), at: '3m' },
      {
        why: 'it crashes again and again',
        series: { ...running(PROCESSES.filter((name) => name !== 'api')), [up('api')]: '0+0x60' },
        at: '3m',
      },
    ],
    silent: [
      { why: 'all run', series: running(PROCESSES), at: '6m' },
      {
        why: 'the networks are divided among scanners',
        series: running([...PROCESSES.filter((name) => name !== 'scanner'), 'scanner-bitcoin']),
        at: '6m',
      },
      {
        why: 'one of two replicas is down',
        series: { ...running(PROCESSES), 'up{job="paymesh",process="api",instance="b:4110"}': '0+0x60' },
        at: '6m',
      },
    ],
  },
}
