"""The daemon's process: its log, its signals, and a stop with a time limit."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path

from asc.errors import AscError
from broker.config.config import Config
from broker.config.exposed import exposed_files
from broker.daemon.daemon import Daemon
from broker.daemon.log import begin_log
from broker.daemon.signals import Signals
from broker.errors import RegistryTakenError
from broker.failure import one_line

LOG = logging.getLogger("asc.daemon")

STOP_TIMEOUT_S = 20
"""The time limit of an orderly stop in seconds."""

REPLACED = 3
"""The exit code of a daemon that ends because another one has replaced it."""

_EXIT_S = 3.0
"""The time in seconds that the process may last after the components have stopped. Then it ends, even if requests that
cannot be interrupted still run.
"""

_WATCH_PAUSE_S = 1.0


def serve(
    config: Config,
    reread: Callable[[], Config],
    *,
    config_file: Path | None = None,
    set_aside: Collection[str] = (),
    is_standby: bool = False,
) -> None:
    """Run the daemon until SIGTERM or SIGINT.

    Raise AscError if it cannot start, or if a process that it needs has died.

    A signal during the start ends the process at once, without loss. On SIGHUP, tokens and certificate are read again,
    and the configuration by ``reread``. If one of these files is invalid, this is logged, and the former content stays
    in force. ``config_file``: the file from which the configuration was read. ``set_aside``: ids of queries that are
    not served. ``is_standby``: serve when no other daemon on the registry serves.
    """
    begin_log(config.log.format)
    for path, verb in exposed_files(config, config_file).items():
        LOG.warning("file '%s': every user of this machine can %s it: chmod 600", path, verb)
    daemon = Daemon(config, set_aside=set_aside, is_standby=is_standby)
    signals = Signals()
    signals.take_over()
    has_hung_up = _start_beside(daemon, signals)
    LOG.info("ready at %s, in a browser the console", daemon.url)
    try:
        while signals.stop is None:
            daemon.check_processes()
            if signals.take_hang_up() or has_hung_up:
                has_hung_up = False
                _read_again(daemon, reread)
            signals.wait(_WATCH_PAUSE_S)
        LOG.info("%s: ending the running batches", signals.stop.name)
    except RegistryTakenError as error:
        # Stop Spark first instead of in order: the new leader already replays the batch that runs here.
        daemon.abandon()
        LOG.error("%s", error)
        logging.shutdown()
        os._exit(REPLACED)
    except AscError as error:
        # Log the error before the stop, which may take long if a process has died, or may end this process.
        LOG.error("%s", error)
        raise
    finally:
        _stop_in_time(daemon)
        _exit_in_time(1 if signals.stop is None else 0)
    LOG.info("stopped")


def _read_again(daemon: Daemon, reread: Callable[[], Config]) -> None:
    # Read the tokens first and separately, so that a token is revoked even if the rest of the configuration is invalid.
    daemon.reload_access()
    try:
        daemon.reload(reread())
    except AscError as error:
        LOG.error("configuration not taken: %s", error)
    except Exception as error:
        # An unexpected error in the file changes nothing either: the daemon keeps its configuration.
        LOG.exception("configuration not taken: unexpected %s", one_line(error))


def _start_beside(daemon: Daemon, signals: Signals) -> bool:
    """Start the daemon in a thread, and return whether a SIGHUP arrived meanwhile.

    The start of a standby may last for weeks, while its API answers.
    """
    # In a separate thread, because PySpark replaces the handler of SIGINT if it is started in the main thread.
    has_hung_up = False
    failures: list[BaseException] = []

    def start() -> None:
        try:
            daemon.start()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=start, name="start", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.2)
        signals.wait(0)
        if signals.take_hang_up():
            has_hung_up = True
            daemon.reload_access()
        if signals.stop is not None and thread.is_alive():
            LOG.info("%s: stopped during the start", signals.stop.name)
            # The children (Spark's JVM, the embedded Kafka) end with the pipes that this process holds.
            logging.shutdown()
            os._exit(128 + signals.stop)
    if failures:
        raise failures[0]
    return has_hung_up


def _exit_in_time(code: int) -> None:
    """Start a thread that ends the process with the exit code ``code`` after ``_EXIT_S``. Without it, Python would wait
    for the threads of its thread pools.
    """

    def exit_now() -> None:
        time.sleep(_EXIT_S)
        logging.shutdown()
        os._exit(code)

    threading.Thread(target=exit_now, name="exit", daemon=True).start()


def _stop_in_time(daemon: Daemon) -> None:
    def stop() -> None:
        try:
            daemon.stop()
        except Exception as error:
            LOG.warning("not everything could be stopped: %s", one_line(error))

    thread = threading.Thread(target=stop, name="stop", daemon=True)
    thread.start()
    thread.join(STOP_TIMEOUT_S)
    if thread.is_alive():
        LOG.error("not stopped after %d s: left as a crash would leave it, to be replayed", STOP_TIMEOUT_S)
        logging.shutdown()
        os._exit(1)
