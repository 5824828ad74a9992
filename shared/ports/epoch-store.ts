/** Epochs in Redis that make a cached key or workspace record outdated at once. */
export interface EpochStore {
  setKeyEpoch(keyId: string, epoch: number): Promise<void>
  setWorkspaceEpoch(workspaceId: string, epoch: number): Promise<void>
}
