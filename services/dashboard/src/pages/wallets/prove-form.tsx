import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { useScope } from '../../session/scope.ts'
import { ControlProof, type Proof } from './control-proof.tsx'

/** Takes the signatures that prove control of an existing wallet. */
export function ProveForm({ walletId }: { readonly walletId: string }) {
  const scope = useScope()
  const [proof, setProof] = useState<Proof | null>(null)
  const action = useAction({
    call: (ids, input: { readonly walletId: string; readonly proof: Proof }) =>
      api.wallets.prove.mutate({ ...scope, ...ids, ...input }),
    done: ({ proved }) => (proved === 1 ? 'Control proved.' : `Control proved for ${proved} addresses.`),
    refresh: [trpc.wallets.pathFilter()],
  })
  return (
    <div className="pm-plain">
      <ControlProof about={{ walletId }} onChange={setProof} refusal={null} />
      {proof === null ? null : (
        <ActionButton action={action} input={{ walletId, proof }}>
          Submit proof{' '}
        </ActionButton>
      )}
    </div>
  )
}
