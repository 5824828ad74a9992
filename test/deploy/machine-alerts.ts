import { type AlertCase, counter, gauge } from './alert-case.ts'

/** Alerts about stores, queues and processes. */
export const MACHINE_ALERTS: Readonly<Record<string, AlertCase>> = {
  MongoLost: gauge('paymesh_store_up{store="mongo",instance="a:4110"}', 0, 1, '1m', '20s'),
  RedisLost: gauge('paymesh_store_up{store="redis",instance="a:4110"}', 0, 1, '2m', '50s'),
  RedisReplaced: counter('paymesh_redis_epoch_changes_total', { born: false }),
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
}
