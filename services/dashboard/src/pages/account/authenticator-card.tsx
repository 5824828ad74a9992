import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { SESSION_KEY } from '../../api/query-client.ts'
import { api, trpc } from '../../api/trpc.ts'
import { DeedButton } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Card, Facts, Note } from '../../parts/card.tsx'
import { Enrolment } from '../../parts/enrolment.tsx'
import { LoadError } from '../../parts/load-error.tsx'
import { RecoveryCodes } from '../../parts/recovery-codes.tsx'
import { Time } from '../../parts/time.tsx'

const REFRESH = [trpc.auth.pathFilter(), { queryKey: SESSION_KEY }]

/** Sets up, replaces and removes the authenticator, and makes recovery codes. */
export function AuthenticatorCard() {
  const security = useQuery(trpc.auth.security.queryOptions())
  const [isSettingUp, setSettingUp] = useState(false)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const renew = useDeed({
    call: ({ opId }) => api.auth.renewRecoveryCodes.mutate({ opId }),
    onDone: ({ recoveryCodes }) => setCodes(recoveryCodes),
    refresh: REFRESH,
  })
  const remove = useDeed({
    call: ({ opId }) => api.auth.removeAuthenticator.mutate({ opId }),
    done: 'Removed. From now on the password alone logs you in.',
    refresh: REFRESH,
  })
  if (security.data === undefined) {
    if (security.isPending) return null
    return <LoadError what="your authenticator" error={security.error} onRetry={() => void security.refetch()} />
  }
  const { authenticatorSince, recoveryCodesLeft } = security.data
  const enrolled = (made: readonly string[]) => {
    setSettingUp(false)
    setCodes(made)
  }
  return (
    <Card title="Authenticator">
      <div className="pm-stack">
        {authenticatorSince === null ? (
          <Note tone="partial">
            <p>
              You have none. Keys, wallets, endpoints, settings and the team can be changed only with a code of one.
            </p>
          </Note>
        ) : (
          <Facts
            facts={[
              ['Set up', <Time key="since" at={authenticatorSince} />],
              ['Recovery codes left', recoveryCodesLeft],
            ]}
          />
        )}
        {codes === null ? null : <RecoveryCodes codes={codes} onStored={() => setCodes(null)} />}
        {isSettingUp ? (
          <Enrolment isReplacing={authenticatorSince !== null} onDone={enrolled} onCancel={() => setSettingUp(false)} />
        ) : (
          <div className="pm-row">
            <Button onClick={() => setSettingUp(true)}>
              {authenticatorSince === null ? 'Set up an authenticator' : 'Replace it'}
            </Button>
            {authenticatorSince === null ? null : (
              <>
                <DeedButton
                  deed={renew}
                  input={undefined}
                  variant="default"
                  confirm={<p>The ten former codes are void from then on.</p>}
                >
                  Make new recovery codes
                </DeedButton>
                <DeedButton
                  deed={remove}
                  input={undefined}
                  variant="default"
                  color="red"
                  confirm={
                    <p>Every other log-in of yours ends, and nothing that needs a code can be changed any more.</p>
                  }
                >
                  Remove the authenticator
                </DeedButton>
              </>
            )}
          </div>
        )}
      </div>
    </Card>
  )
}
