import type { AlertCase } from './alert-case.ts'
import { EDGE_ALERTS } from './edge-alerts.ts'
import { MACHINE_ALERTS } from './machine-alerts.ts'
import { MONEY_ALERTS } from './money-alerts.ts'
import { OUTGOING_ALERTS } from './outgoing-alerts.ts'

/** Every alert of `deploy/prometheus/alerts.yml`. */
export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  ...MONEY_ALERTS,
  ...OUTGOING_ALERTS,
  ...EDGE_ALERTS,
  ...MACHINE_ALERTS,
}
