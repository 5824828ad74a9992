/** What many watchers of invoices share: one question for all of them. */
export interface InvoiceVersions {
  /** The present version of each of these invoices; unknown ids are left out. */
  versionsOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
}
