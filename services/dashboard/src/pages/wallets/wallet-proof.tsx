import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Note } from '../../parts/card.tsx'
import { useMay, useScope } from '../../session/scope.ts'
import { ControlProof, OpenOnDemand, type Proof } from './control-proof.tsx'

type Wallet = Awaited<ReturnType<typeof api.wallets.list.query>>['items'][number]

/** How much of a wallet is proved, and the form to prove the rest. Nothing where the installation does not require proofs. */
export function WalletProof({ wallet: { id, kind, proof } }: { readonly wallet: Wallet }) {
  const may = useMay('admin')
  if (proof === null) return null
  const { proved, of, isDisplaced } = proof
  if (!isDisplaced && proved >= of) return <p className="pm-muted">You proved that you control this wallet.</p>
  const part = kind === 'pool' && proved > 0 ? ` for ${proved} of ${of} addresses` : ''
  return (
    <div className="pm-stack-small">
      {isDisplaced ? (
        <Note tone="danger">
          <p>
            Another workspace on this server proved control of this wallet. New invoices cannot use it. Prove that you
            control it, then enable it again.
          </p>
        </Note>
      ) : (
        <Note tone="new">
          <p>
            Proof of control is missing: this server has more than one workspace
            {part === '' ? '' : `, and you have proved control${part}`}. The wallet works until another workspace proves
            control of it.
          </p>
        </Note>
      )}
      {may ? (
        <OpenOnDemand label="Prove control">
          <ProveForm walletId={id} />
        </OpenOnDemand>
      ) : null}
    </div>
  )
}

function ProveForm({ walletId }: { readonly walletId: string }) {
  const scope = useScope()
  const [proof, setProof] = useState<Proof | null>(null)
  const action = useAction({
    call: (ids, input: { readonly walletId: string; readonly proof: Proof }) =>
      api.wallets.prove.mutate({ ...scope, ...ids, ...input }),
    done: ({ proved }) => (proved === 1 ? 'Control proved.' : `Control proved for ${proved} addresses.`),
    refresh: [trpc.wallets.pathFilter()],
  })
  return (
    <div className="pm-stack-small">
      <ControlProof about={{ walletId }} onChange={setProof} refusal={null} />
      {proof === null ? null : (
        <ActionButton action={action} input={{ walletId, proof }}>
          Submit proof{' '}
        </ActionButton>
      )}
    </div>
  )
}
