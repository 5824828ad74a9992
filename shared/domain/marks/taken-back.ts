/** Actions of the audit log that take something back, and what a restore of an older archive does about each. */
const TAKEN_BACK: Readonly<Record<string, string>> = {
  'api_key.revoked': 'The key is revoked again.',
  'member.removed': 'The member is removed again.',
  'endpoint.secret_rotated': 'The endpoint gets another secret and is disabled.',
  'invoice.customer_erased': 'The customer is erased again.',
}

/** Whether a row of the audit log is about something that must not come back with an older archive. */
export const isTakenBack = (action: string): boolean => Object.hasOwn(TAKEN_BACK, action)
