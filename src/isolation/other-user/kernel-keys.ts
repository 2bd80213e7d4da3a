// Keeps programs from the kernel's key service, and from abstract sockets of other programs. Namespaces do not separate keyrings. A
// user's keyring outlives every program. A session's keyring is inherited from the runner's session, with the keys that a person
// keeps in it. Abstract sockets belong to the network, which programs share with the machine unless they have their own namespace.
import { existsSync } from 'node:fs'

/** By AUDIT_ARCH of linux/audit.h: the first of add_key, request_key and keyctl, which follow each other. */
const FIRST_CALL: readonly [arch: number, first: number][] = [
  [0xc000003e, 248], // x86_64
  [0x40000003, 286], // i386
  [0xc00000b7, 217], // aarch64
  [0x40000028, 309], // arm
]
/** Offsets in `struct seccomp_data`. */
const [NUMBER, ARCH] = [0, 4]
/** x32 calls have the same numbers with this bit. */
const WITHOUT_X32 = 0xbfffffff
/** Return values of the filter. A refused call fails with ENOSYS, as on a kernel without keys, and programs continue. */
const [ALLOWED, REFUSED] = [0x7fff0000, 0x00050000 + 38]

type Instruction = [code: number, ifSo: number, ifNot: number, value: number]
const [LOAD, AND, EQUAL, AT_LEAST, ABOVE, RETURN] = [0x20, 0x54, 0x15, 0x35, 0x25, 0x06]

/** A seccomp filter as the kernel takes it, little-endian. */
function filter(): Buffer {
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCH],
    ...FIRST_CALL.flatMap(([arch, first]): Instruction[] => [
      [EQUAL, 0, 6, arch],
      [LOAD, 0, 0, NUMBER],
      [AND, 0, 0, WITHOUT_X32],
      [AT_LEAST, 0, 2, first],
      [ABOVE, 1, 0, first + 2],
      [RETURN, 0, 0, REFUSED],
      [RETURN, 0, 0, ALLOWED],
    ]),
    [RETURN, 0, 0, ALLOWED],
  ]
  const bytes = Buffer.alloc(8 * program.length)
  for (const [at, [code, ifSo, ifNot, value]] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * at)
    bytes.writeUInt8(ifSo, 8 * at + 2)
    bytes.writeUInt8(ifNot, 8 * at + 3)
    bytes.writeUInt32LE(value, 8 * at + 4)
  }
  return bytes
}

/** Number of the prctl call, which accepts a filter from a program without new privileges. */
const PRCTL: Readonly<Record<string, number>> = { x64: 157, arm64: 167 }
const PERL = '/usr/bin/perl'
/** `struct landlock_ruleset_attr`: no right of files or ports is restricted, the first scope is (abstract sockets, Linux 6.12). */
const SCOPE = 'pack "QQQ", 0, 0, 1'
/** landlock_create_ruleset and landlock_restrict_self, which have the same numbers on every architecture. */
const [CREATE_RULESET, RESTRICT_SELF] = [444, 446]
/**
 * Perl that sets the filter (`struct sock_fprog`) with prctl, and then runs the program in its arguments. If asked, it also sets the
 * scope, provided that the kernel knows it.
 */
const SCRIPT = [
  'my ($call, $filter, $isScoped) = (shift, pack("H*", shift), shift)',
  'my $program = pack "S x6 P", length($filter) / 8, $filter',
  'syscall $call + 0, 22, 2, $program',
  `my $scope = ${SCOPE}`,
  `my $rules = $isScoped ? syscall(${CREATE_RULESET}, $scope, length($scope), 0) : -1`,
  `syscall(${RESTRICT_SELF}, $rules, 0) if $rules >= 0`,
  'exec { $ARGV[0] } @ARGV or exit 127',
].join('; ')

/**
 * The words to put before a command so that it cannot use kernel keys, nor abstract sockets of programs that it did not start. Empty if
 * there is no perl or the architecture is unknown. `hasDisplay`: it may connect to an X server, which listens on such a socket.
 */
export function withoutKernelKeys(hasDisplay: boolean): string[] {
  const call = PRCTL[process.arch]
  if (call === undefined || !existsSync(PERL)) return []
  return [PERL, '-e', SCRIPT, String(call), filter().toString('hex'), hasDisplay ? '0' : '1']
}
