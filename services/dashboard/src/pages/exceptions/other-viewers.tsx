import { IconEye } from '@tabler/icons-react'
import { Fragment } from 'react'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { useOtherViewers } from './use-other-viewers.ts'

/** More are counted. */
const NAMED_MAX = 3

/** Says who else has this entry open, so that two people do not work on the same one. Nothing shows while nobody else is there. */
export function OtherViewers({ id }: { readonly id: string }) {
  const names = useOtherViewers(id)
  // The region is there before its words, or they would not be read out.
  return (
    <div role="status" aria-atomic="true" className="pm-muted pm-small">
      {names.length === 0 ? null : <Sentence names={names} />}
    </div>
  )
}

function Sentence({ names }: { readonly names: readonly string[] }) {
  const named = names.length > NAMED_MAX ? names.slice(0, NAMED_MAX - 1) : names
  const more = names.length - named.length
  const between = (place: number) => (place === named.length - 1 && more === 0 ? ' and ' : ', ')
  return (
    <p className="pm-viewers">
      <IconEye size={15} aria-hidden />
      <span>
        {named.map((name, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two people may have one name.
          <Fragment key={place}>
            {place === 0 ? '' : between(place)}
            <b className="pm-viewer">
              <ForeignText>{name}</ForeignText>
            </b>
          </Fragment>
        ))}
        {more === 0 ? '' : ` and ${more} others`}
        {names.length === 1 ? ' also has this open.' : ' also have this open.'}
      </span>
    </p>
  )
}
