import { Button } from '@mantine/core'
import { useState } from 'react'
import type { api } from '../../api/trpc.ts'
import { Note } from '../../parts/card.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useMay } from '../../session/scope.ts'

type Wallet = Awaited<ReturnType<typeof api.wallets.list.query>>['items'][number]

/** How much of a wallet is proved, and the form to prove the rest. Nothing where the installation does not require proofs. */
export function WalletProof({ wallet: { id, kind, proof } }: { readonly wallet: Wallet }) {
  const may = useMay('admin', 'restricted')
  if (proof === null) return null
  const { proved, of, isDisplaced } = proof
  if (!isDisplaced && proved >= of) return <p className="pm-muted">You proved that you control this wallet.</p>
  const part = kind === 'pool' && proved > 0 ? ` for ${proved} of ${of} addresses` : ''
  return (
    <div className="pm-plain">
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
      {may ? <ProveOnDemand walletId={id} /> : null}
    </div>
  )
}

/** The form, collapsed until the person opens it. */
function ProveOnDemand({ walletId }: { readonly walletId: string }) {
  const [open, setOpen] = useState(false)
  const Form = useLoaded(
    open,
    async () => (await import('./prove-form.tsx')).ProveForm,
    () => setOpen(false),
  )
  if (open && Form !== null) return <Form walletId={walletId} />
  return (
    <Button variant="default" size="xs" onClick={() => setOpen(true)}>
      Prove control
    </Button>
  )
}
