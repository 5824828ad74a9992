/** How a chain is scanned in one seed. */
export interface ScanPlan {
  /** As the settings say now; a scanner reads them when it starts. */
  isThrifty: boolean
  /** Whether that was ever so: then some blocks were never read. */
  wasThrifty: boolean
  /** How often an operator changes the setting. */
  readonly switches: number
  /** Nodes drop old balances. */
  readonly isPruned: boolean
  /** Most of the quota is used. */
  readonly isNearlySpent: boolean
}
