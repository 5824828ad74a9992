import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { DeedButton } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Note } from '../../parts/card.tsx'
import { useMay, useScope } from '../../session/scope.ts'
import { ControlProof, OpenOnDemand, type Proof } from './control-proof.tsx'

type Wallet = Awaited<ReturnType<typeof api.wallets.list.query>>['items'][number]

/** How much of a wallet is proved, and the way to prove the rest. Nothing where the installation does not ask for proofs. */
export function WalletProof({ wallet: { id, kind, proof } }: { readonly wallet: Wallet }) {
  const may = useMay('admin')
  if (proof === null) return null
  const { proved, of, isDisplaced } = proof
  if (!isDisplaced && proved >= of) return <p className="pm-muted">You proved that you control it.</p>
  const part = kind === 'pool' && proved > 0 ? ` for ${proved} of ${of} addresses` : ''
  return (
    <div className="pm-stack-small">
      {isDisplaced ? (
        <Note tone="danger">
          <p>
            Another workspace of this installation proved that it controls this. New invoices cannot use it. Prove that
            you control it, then enable it again.
          </p>
        </Note>
      ) : (
        <Note tone="new">
          <p>
            Proof needed: this installation serves more than one workspace, and you have proved control
            {part === '' ? ' of nothing here yet' : part}. It works until another workspace proves it.
          </p>
        </Note>
      )}
      {may ? (
        <OpenOnDemand label="Prove that you control it">
          <ProveForm walletId={id} />
        </OpenOnDemand>
      ) : null}
    </div>
  )
}

function ProveForm({ walletId }: { readonly walletId: string }) {
  const scope = useScope()
  const [proof, setProof] = useState<Proof | null>(null)
  const deed = useDeed({
    call: (ids, input: { readonly walletId: string; readonly proof: Proof }) =>
      api.wallets.prove.mutate({ ...scope, ...ids, ...input }),
    done: ({ proved }) => (proved === 1 ? 'Proved.' : `${proved} addresses are proved.`),
    refresh: [trpc.wallets.pathFilter()],
  })
  return (
    <div className="pm-stack-small">
      <ControlProof about={{ walletId }} onChange={setProof} refusal={null} />
      {proof === null ? null : (
        <DeedButton deed={deed} input={{ walletId, proof }}>
          Prove it
        </DeedButton>
      )}
    </div>
  )
}
