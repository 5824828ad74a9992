import { type AlertCase, counter, gauge, queueAge } from './alert-case.ts'

/** Alerts about events, webhooks, mails and what is kept. */
export const OUTGOING_ALERTS: Readonly<Record<string, AlertCase>> = {
  OutboxBehind: queueAge('outbox', 40, 2, '2m', '50s'),
  OutboxBlocked: counter('paymesh_outbox_blocked_total'),
  WebhooksBehind: {
    ...queueAge('webhooks', 90, 5, '3m', '110s'),
    silent: [
      ...queueAge('webhooks', 90, 5, '3m', '110s').silent,
      {
        why: 'one endpoint has as much in flight as it takes',
        series: {
          'paymesh_queue_oldest_due_age_seconds{queue="webhooks"}': '0+0x400',
          'paymesh_webhook_endpoints_oldest_due_age_seconds{state="slow"}': '900+10x400',
        },
        at: '30m',
      },
    ],
  },
  WebhooksCutOff: {
    fires: [
      {
        why: 'every attempt fails and five endpoints wait',
        series: {
          'paymesh_webhook_endpoints_due{state="failing"}': '6+0x200',
          'paymesh_webhook_attempts_total{result="retry"}': '0+3x200',
          'paymesh_webhook_attempts_total{result="succeeded"}': '50+0x200',
        },
        at: '20m',
      },
      {
        why: 'no attempt ever succeeded',
        series: {
          'paymesh_webhook_endpoints_due{state="failing"}': '6+0x200',
          'paymesh_webhook_attempts_total{result="retry"}': '0+3x200',
        },
        at: '20m',
      },
    ],
    silent: [
      {
        why: 'two receivers of one merchant are down',
        series: {
          'paymesh_webhook_endpoints_due{state="failing"}': '2+0x200',
          'paymesh_webhook_attempts_total{result="retry"}': '0+3x200',
        },
        at: '20m',
      },
      {
        why: 'others get theirs',
        series: {
          'paymesh_webhook_endpoints_due{state="failing"}': '200+0x200',
          'paymesh_webhook_attempts_total{result="retry"}': '0+3x200',
          'paymesh_webhook_attempts_total{result="succeeded"}': '0+1x200',
        },
        at: '20m',
      },
      {
        why: 'receivers are slow and do not fail',
        series: { 'paymesh_webhook_endpoints_due{state="slow"}': '200+0x200' },
        at: '20m',
      },
    ],
  },
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
  WebhooksUnpreparable: counter('paymesh_webhook_unpreparable_total'),
  MailBehind: queueAge('mail', 2_000, 60, '6m', '4m'),
  MailFails: {
    ...counter('paymesh_mails_total{result="failed",fault="rejected"}'),
    silent: [
      { why: 'mails are sent', series: { 'paymesh_mails_total{result="sent",fault="none"}': '0+1x200' }, at: '30m' },
    ],
  },
  MailServerMissing: gauge('paymesh_mail_server_configured', 0, 1, '12m', '9m'),
  MaintenanceBehind: queueAge('audit-chain', 900, 10, '10m', '50s'),
  AuditChainStands: {
    fires: [{ why: 'each round fails', series: { paymesh_audit_chain_failed_total: '0+1x100' }, at: '15m' }],
    silent: [{ why: 'one round failed', series: { paymesh_audit_chain_failed_total: '0+0x50 1+0x50' }, at: '15m' }],
  },
  BackupTooOld: {
    interval: '5m',
    fires: [
      { why: 'is two days old', series: { paymesh_backup_verified_age_seconds: '172800+300x60' }, at: '2h' },
      { why: 'there is none', series: { paymesh_backup_verified_age_seconds: '+Inf+0x60' }, at: '2h' },
    ],
    silent: [
      { why: 'is a day old', series: { paymesh_backup_verified_age_seconds: '86400+300x60' }, at: '2h' },
      {
        why: 'one is made at last',
        series: { paymesh_backup_verified_age_seconds: '130000+300x6 60+300x50' },
        at: '3h',
      },
    ],
  },
  BackupChangesOld: {
    interval: '1m',
    fires: [
      { why: 'the process stands', series: { paymesh_backup_changes_age_seconds: '30+60x20' }, at: '9m' },
      { why: 'they are of a later time', series: { paymesh_backup_changes_age_seconds: '+Inf+0x20' }, at: '4m' },
    ],
    silent: [
      {
        why: 'they are copied',
        series: { paymesh_backup_changes_age_seconds: '30 60 30 60 30 60 30 60 30 60 30' },
        at: '9m',
      },
      {
        why: 'it was updated',
        series: { paymesh_backup_changes_age_seconds: '250 310 20 50 30 30 30 30 30 30' },
        at: '6m',
      },
      { why: 'they never were', series: { paymesh_backup_verified_age_seconds: '60+60x20' }, at: '9m' },
    ],
  },
  MarksNotWritten: {
    fires: [
      { why: 'no place answers', series: { 'paymesh_marks_written_at_seconds{place="redis"}': '10+0x400' }, at: '4m' },
      {
        why: 'one of two places answers',
        series: {
          'paymesh_marks_written_at_seconds{place="redis"}': '0+10x400',
          'paymesh_marks_written_at_seconds{place="folder"}': '10+0x400',
        },
        at: '4m',
      },
    ],
    silent: [
      {
        why: 'another process keeps them since',
        series: {
          'paymesh_marks_written_at_seconds{place="redis",instance="a"}': '10+0x400',
          'paymesh_marks_written_at_seconds{place="redis",instance="b"}': '0+10x400',
        },
        at: '10m',
      },
    ],
  },
  StoreWentBack: {
    fires: [
      ...counter('paymesh_store_went_back_total').fires,
      ...counter('paymesh_marks_unsigned_total{place="redis"}').fires,
    ],
    silent: counter('paymesh_store_went_back_total').silent,
  },
  WatchPacksDamaged: gauge(
    'paymesh_scanner_watch_packs_damaged{mode="live",network="ethereum",instance="a:4110"}',
    1,
    0,
    '6m',
    '4m',
  ),
  WatchPacksFail: {
    interval: '5m',
    fires: [
      {
        why: 'each attempt fails, one in ten minutes',
        series: { paymesh_watch_packs_failed_total: '0 0 1 1 2 2 3 3 4 4 5 5 6 6' },
        at: '65m',
      },
    ],
    silent: [
      { why: 'one run failed', series: { paymesh_watch_packs_failed_total: '0+0x6 1+0x20' }, at: '65m' },
      { why: 'they failed long ago', series: { paymesh_watch_packs_failed_total: '9+0x40' }, at: '2h' },
    ],
  },
  RetentionOverdue: {
    interval: '5m',
    fires: [
      {
        why: 'stays for two days',
        series: { 'paymesh_retention_overdue_seconds{collection="mails"}': '172800+0x60' },
        at: '2h',
      },
      {
        why: 'is one of many collections',
        series: {
          'paymesh_retention_overdue_seconds{collection="mails"}': '0+0x60',
          'paymesh_retention_overdue_seconds{collection="rate_snapshots"}': '80000+300x60',
        },
        at: '4h',
      },
    ],
    silent: [
      {
        why: 'is removed within the day',
        series: { 'paymesh_retention_overdue_seconds{collection="mails"}': '80000+0x60' },
        at: '4h',
      },
      {
        why: 'has not lasted yet',
        series: { 'paymesh_retention_overdue_seconds{collection="mails"}': '172800+0x60' },
        at: '50m',
      },
    ],
  },
}
