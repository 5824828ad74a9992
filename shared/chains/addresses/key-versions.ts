import type { ScriptType } from '#shared/domain/script-type.ts'

/** Meaning of the four version bytes of an extended key. */
export interface KeyVersion {
  /** The letters that its base58 text begins with. */
  readonly name: string
  readonly kind: 'public' | 'private' | 'multisig'
  readonly network: 'main' | 'test'
  /** The one script type that wallets export under these bytes; null where wallets use them for several. */
  readonly scriptType: ScriptType | null
}

const version = (
  name: string,
  kind: KeyVersion['kind'],
  network: KeyVersion['network'],
  scriptType: ScriptType | null = null,
): KeyVersion => ({ name, kind, network, scriptType })

/** Version bytes (hex) of SLIP-132 and of the coins' own chain parameters. */
export const KEY_VERSIONS: Readonly<Record<string, KeyVersion>> = {
  '0488b21e': version('xpub', 'public', 'main'),
  '049d7cb2': version('ypub', 'public', 'main', 'p2sh-p2wpkh'),
  '04b24746': version('zpub', 'public', 'main', 'p2wpkh'),
  '043587cf': version('tpub', 'public', 'test'),
  '044a5262': version('upub', 'public', 'test', 'p2sh-p2wpkh'),
  '045f1cf6': version('vpub', 'public', 'test', 'p2wpkh'),
  '019da462': version('Ltub', 'public', 'main'),
  '01b26ef6': version('Mtub', 'public', 'main', 'p2sh-p2wpkh'),
  '0436f6e1': version('ttub', 'public', 'test'),
  '02facafd': version('dgub', 'public', 'main', 'p2pkh'),
  '0295b43f': version('Ypub', 'multisig', 'main'),
  '02aa7ed3': version('Zpub', 'multisig', 'main'),
  '024289ef': version('Upub', 'multisig', 'test'),
  '02575483': version('Vpub', 'multisig', 'test'),
  '0488ade4': version('xprv', 'private', 'main'),
  '049d7878': version('yprv', 'private', 'main'),
  '04b2430c': version('zprv', 'private', 'main'),
  '04358394': version('tprv', 'private', 'test'),
  '044a4e28': version('uprv', 'private', 'test'),
  '045f18bc': version('vprv', 'private', 'test'),
  '0295b005': version('Yprv', 'private', 'main'),
  '02aa7a99': version('Zprv', 'private', 'main'),
  '024285b5': version('Uprv', 'private', 'test'),
  '02575048': version('Vprv', 'private', 'test'),
  '019d9cfe': version('Ltpv', 'private', 'main'),
  '01b26792': version('Mtpv', 'private', 'main'),
  '0436ef7d': version('ttpv', 'private', 'test'),
  '02fac398': version('dgpv', 'private', 'main'),
}
