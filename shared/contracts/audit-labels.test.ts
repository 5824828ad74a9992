import { describe, expect, it } from 'vitest'
import { actionLabel, actorLabel } from './audit-labels.ts'

describe('labels of the audit log', () => {
  it.each([
    ['auth.log_in_failed', 'Failed log-in'],
    ['refund.requested', 'Refund address requested'],
    ['invoice.cancelled', 'Invoice cancelled'],
    ['payment_link.created', 'Payment link created'],
    ['', ''],
    ['constructor', 'Constructor'],
  ])('labels the action %j as %j', (action, label) => expect(actionLabel(action)).toBe(label))

  it.each([
    ['user:owner@example.com', 'owner@example.com'],
    ['cli:root', 'CLI (root)'],
    ['customer', 'Customer'],
    ['somebody', 'Somebody unknown'],
    ['start', 'System'],
    ['api_key:01920a5e', 'api_key:01920a5e'],
  ])('labels the actor %j as %j', (actor, label) => expect(actorLabel(actor)).toBe(label))
})
