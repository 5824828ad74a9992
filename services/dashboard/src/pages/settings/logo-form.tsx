import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ChangeEvent, useRef, useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Card } from '../../parts/card.tsx'
import { useRefusal, useScope } from '../../session/scope.ts'
import type { Settings } from './use-settings-draft.ts'

/** The same limit as the server's, so that a large file is not sent at all. */
const BYTES_MAX = 524_288
const KINDS = ['image/png', 'image/jpeg', 'image/webp']

/** Shows, replaces and removes the logo. The server encodes the picture again; what is shown here is what payers get. */
export function LogoForm({ settings }: { readonly settings: Settings }) {
  const scope = useScope()
  const refusal = useRefusal('admin', 'restricted')
  const stored = useQuery(trpc.workspace.logo.queryOptions(scope))
  const [fault, setFault] = useState<string | null>(null)
  const field = useRef<HTMLInputElement>(null)
  const save = useAction({
    call: (ids, image: string | null) =>
      api.workspace.setLogo.mutate({ ...scope, ...ids, version: settings.version, image }),
    done: ({ logo }) => (logo === null ? 'The logo was removed.' : 'The logo was saved. Payers see it now.'),
    refresh: [trpc.workspace.pathFilter()],
  })
  const choose = async ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const file = currentTarget.files?.[0]
    save.clear()
    setFault(file === undefined ? null : faultOf(file))
    if (file === undefined || faultOf(file) !== null) return
    await save.run(await base64Of(file))
    // The same file can be chosen again after a refusal.
    if (field.current !== null) field.current.value = ''
  }
  const image = stored.data?.image ?? null
  const refused = save.failure?.fields['image']
  return (
    <Card title="Logo">
      <div className="pm-stack">
        <p className="pm-small" id="logo-about">
          PNG, JPEG or WebP, at most 512 KB and 4096 × 4096 pixels. Shown on the checkout, receipts and refund pages,
          not in emails.
        </p>
        <div className={`pm-logo-frame on-${settings.logo?.ground ?? 'light'}`}>
          {image === null ? <span>No logo</span> : <img src={image} alt={`Logo of ${settings.name}`} />}
        </div>
        {refusal === null ? (
          <div>
            <label htmlFor="logo-file">{settings.logo === null ? 'Add a logo' : 'Replace the logo'}</label>
            <div className="pm-row">
              <input
                id="logo-file"
                ref={field}
                type="file"
                accept={KINDS.join(',')}
                aria-describedby="logo-about logo-fault"
                aria-invalid={fault !== null || refused !== undefined}
                disabled={save.busy}
                onChange={(event) => void choose(event)}
              />
              {settings.logo === null ? null : (
                <Button variant="default" loading={save.busy} onClick={() => void save.run(null)}>
                  Remove the logo
                </Button>
              )}
            </div>
            <p id="logo-fault" className="pm-file-fault" role="alert">
              {fault ?? (refused === undefined ? null : `The picture ${refused}.`)}
            </p>
          </div>
        ) : (
          <p className="pm-small">{refusal}</p>
        )}
        {refused === undefined ? <ActionFailure failure={save.failure} /> : null}
      </div>
    </Card>
  )
}

function faultOf(file: File): string | null {
  if (!KINDS.includes(file.type)) return 'Choose a PNG, JPEG or WebP file.'
  return file.size > BYTES_MAX ? 'The file is larger than 512 KB. Make the picture smaller.' : null
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
