// A process whose first thread has ended while another goes on; what shows it as dead is wrong.

/** The system's own: other users cannot run what somebody has in a home. */
export const PYTHON = '/usr/bin/python3'

/** In Python, without quotes of a shell: 60 and 93 are exit(2) of x86_64 and of ARM. The thread kills whom it may. */
export const HEADLESS = [
  'import ctypes, os, platform, signal, sys, threading, time',
  'def go():',
  '    end = time.time() + 20',
  '    while time.time() < end:',
  '        if len(sys.argv) > 1: os.kill(-1, signal.SIGKILL)',
  '        time.sleep(0.0005)',
  '    os._exit(0)',
  'threading.Thread(target=go).start()',
  'ctypes.CDLL(None).syscall(60 if platform.machine() == "x86_64" else 93, 0)',
].join('\n')
