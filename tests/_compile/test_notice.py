import logging

from setatoms._compile import notice


def test_a_long_compilation_is_announced_once(monkeypatch, caplog):
    monkeypatch.setattr(notice, "_n_compiled", 0)
    with caplog.at_level(logging.WARNING, "setatoms"):
        for _ in range(9):
            notice.count_compiled()
        assert caplog.messages == []
        for _ in range(20):
            notice.count_compiled()
    assert len(caplog.messages) == 1
    assert "compiling kernels, once, about a minute" in caplog.messages[0]
