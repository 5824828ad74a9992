import { Link, Navigate, useParams } from 'react-router'
import { MODES } from '#shared/domain/enumerations.ts'
import { Page } from '../parts/page.tsx'
import { UntrustedText } from '../parts/untrusted-text.tsx'
import { PlaceContext } from '../session/scope.ts'
import { useSession } from '../session/session.ts'
import { Frame } from './frame.tsx'
import { NotFound } from './not-found.tsx'
import { rememberedPlace, rememberPlace } from './remembered-place.ts'

/** Pages of a workspace: reads workspace and mode from the URL. An unknown or foreign workspace is not found. */
export function PlaceRoute() {
  const { workspace, mode } = useParams()
  const membership = useSession().workspaces.find(({ id }) => id === workspace)
  const known = MODES.find((candidate) => candidate === mode)
  if (membership === undefined || known === undefined) {
    return (
      <Frame target={null}>
        <NotFound />
      </Frame>
    )
  }
  if (membership.needsAuthenticator) {
    return (
      <Frame target={null}>
        <AuthenticatorFirst workspace={membership.name} />
      </Frame>
    )
  }
  const { id: workspaceId, name: workspaceName, role, status } = membership
  const place = { workspaceId, workspaceName, role, status, mode: known }
  rememberPlace(place)
  return (
    <PlaceContext value={place}>
      <Frame target={place} status={status} />
    </PlaceContext>
  )
}

function AuthenticatorFirst({ workspace }: { readonly workspace: string }) {
  return (
    <Page title="Set up two-factor authentication">
      <p>
        <UntrustedText>{workspace}</UntrustedText> requires two-factor authentication. Setting it up takes a minute.
      </p>
      <p className="pm-gap-top">
        <Link to="/account">Account security</Link>
      </p>
    </Page>
  )
}

/** Pages of the installation: the navigation leads back to the last workspace. */
export function InstanceRoute() {
  const { workspaces, isOperator } = useSession()
  const last = rememberedPlace()
  const membership = workspaces.find(({ id }) => id === last?.workspaceId) ?? workspaces[0]
  const target =
    membership === undefined
      ? null
      : {
          workspaceId: membership.id,
          workspaceName: membership.name,
          role: membership.role,
          mode: last?.mode ?? ('live' as const),
        }
  return <Frame target={target}>{isOperator ? undefined : <NotFound />}</Frame>
}

/** Pages of the signed-in person, such as the password: no workspace, no role. */
export function OwnRoute() {
  return <Frame target={null} />
}

/** The front page redirects to where this person was last. */
export function FrontRoute() {
  const { workspaces, isOperator } = useSession()
  const last = rememberedPlace()
  const membership = workspaces.find(({ id }) => id === last?.workspaceId) ?? workspaces[0]
  if (membership === undefined) return isOperator ? <Navigate to="/system/chains" replace /> : <OwnRoute />
  return <Navigate to={`/${membership.id}/${last?.mode ?? 'live'}/overview`} replace />
}
