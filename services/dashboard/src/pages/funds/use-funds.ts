import { useRef, useState } from 'react'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { api } from '../../api/trpc.ts'
import { useScope } from '../../session/scope.ts'
import { type FundsProgress, readFunds } from './read-funds.ts'

/** Reads the balances of a wallet on request; null before the first reading. */
export function useFunds(walletId: string, networks: readonly NetworkId[]) {
  const scope = useScope()
  const [progress, setProgress] = useState<FundsProgress | null>(null)
  const isStopped = useRef(false)

  async function read(): Promise<void> {
    isStopped.current = false
    await readFunds({
      networks,
      page: async (network, after) => await api.funds.page.query({ ...scope, walletId, network, after }),
      isStopped: () => isStopped.current,
      show: setProgress,
    })
  }

  return {
    progress,
    read,
    stop: () => {
      isStopped.current = true
    },
  }
}
