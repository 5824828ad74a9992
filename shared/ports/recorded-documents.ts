/** Documents that no code stores without an audit row. */
export const RECORDED_KINDS = [
  'workspace',
  'user',
  'membership',
  'invitation',
  'api_key',
  'wallet',
  'endpoint',
  'refund',
] as const

/** A kind of document that is stored in one transaction with its audit row. */
export type RecordedKind = (typeof RECORDED_KINDS)[number]
