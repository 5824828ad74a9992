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

/** Reads documents beside the audit rows about how they came to be. */
export interface RecordedDocuments {
  /** Documents behind an id, in the order of ids, and whether the audit log has the row of each; waiting rows count. */
  page(
    kind: RecordedKind,
    after: string | null,
    limit: number,
  ): Promise<readonly { readonly id: string; readonly isRecorded: boolean }[]>
}
